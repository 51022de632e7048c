package member

import (
	"slices"
	"strings"
	"unicode"

	"github.com/berthhq/berth/internal/fold"
)

// turnNames reads "Kilbride, Maeve" as "Maeve Kilbride" in a column of full names, if it is how the file writes them:
// at least half of its names. Their rows say so.
func turnNames(rows []ImportRow) {
	full, turned := 0, make(map[int]string)
	for i, row := range rows {
		if row.Member.Name == "" || row.first != "" || row.last != "" {
			continue
		}
		full++
		if name := turnName(row.Member.Name); name != "" {
			turned[i] = name
		}
	}
	if 2*len(turned) < full {
		return
	}
	for i, name := range turned {
		row := &rows[i]
		row.AddNote("name", "%s is read as %s.", row.Member.Name, name)
		row.Member.Name = name
	}
}

// maxNameWords is how many words each part of a name has at most that can be turned.
const maxNameWords = 4

// behindNames are what can be behind a comma without being a first name, as they are compared.
var behindNames = []string{
	"jr", "sr", "jnr", "snr", "junior", "senior", "i", "ii", "iii", "iv", "v", "phd", "md", "dds", "do", "rn", "esq", "ba",
	"bsc", "ma", "msc", "mba", "dr", "prof", "cpt", "ot", "pt", "dpt", "inc", "ltd", "llc", "llp", "plc", "gmbh",
	"ag", "kg", "ug", "ev", "co", "sa", "sas", "sarl", "srl", "eurl",
}

// turnName returns "Maeve Kilbride" for "Kilbride, Maeve"; "" if a text does not have that shape alone.
func turnName(name string) string {
	last, first, found := strings.Cut(name, ",")
	last, first = strings.TrimSpace(last), strings.TrimSpace(first)
	if !found || !isNamePart(last) || !isNamePart(first) {
		return ""
	}
	key := strings.ReplaceAll(strings.Fields(fold.Text(first))[0], ".", "")
	if slices.Contains(behindNames, key) {
		return ""
	}
	return first + " " + last
}

// isNamePart reports whether a text is a few words of letters.
func isNamePart(text string) bool {
	words := len(strings.Fields(text))
	return 0 < words && words <= maxNameWords && strings.ContainsFunc(text, unicode.IsLetter) &&
		!strings.ContainsFunc(text, func(char rune) bool {
			return !unicode.In(char, unicode.L, unicode.M) && !strings.ContainsRune(" .'’‘ʼ-‐‑\u200c\u200d\u00a0", char)
		})
}

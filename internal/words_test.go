package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// unlisted are types, or packages of types, that are not named by a term of docs/words.md, and why.
var unlisted = map[string]string{
	"rules/event":            "the data of an event is named after the event, as the contract names it",
	"rules/content.Rendered": "what Render returns, of which a message is made",
	"app/settings.Previewed": "a decision that is previewed",
}

// Types of rules and use cases are named by the terms of docs/words.md: with their last word, or as a whole.
func TestTypes_AreNamedByTermsOfWords(t *testing.T) {
	t.Parallel()
	terms := readTerms(t)
	must.MapContainsKeys(t, terms, []string{"booking", "waitlist", "quiet hour", "policy"})
	needed := map[string]bool{}
	for _, name := range exportedTypes(t, "rules", "app") {
		words := wordsOf(path.Ext(name)[1:])
		words[len(words)-1] = singular(words[len(words)-1])
		if terms[words[len(words)-1]] || terms[strings.Join(words, " ")] {
			continue
		}
		exception := name
		if pkg := strings.TrimSuffix(name, path.Ext(name)); unlisted[pkg] != "" {
			exception = pkg
		}
		needed[exception] = true
		test.NotEqOp(t, "", unlisted[exception], test.Sprintf(
			"%s: docs/words.md has neither %q nor %q", name, words[len(words)-1], strings.Join(words, " "),
		))
	}
	for exception := range unlisted {
		test.True(t, needed[exception], test.Sprintf("%s needs no exception", exception))
	}
}

// Resources and enums of the contract are named by the same terms: with their last words. Requests and responses are
// named after their RPCs.
func TestContract_IsNamedByTermsOfWords(t *testing.T) {
	t.Parallel()
	terms := readTerms(t)
	files := expect.Value(filepath.Glob(filepath.Join(root, "proto/berth/v1/*.proto")))(t)
	must.SliceNotEmpty(t, files)
	declared := regexp.MustCompile(`(?m)^(?:message|enum) (\w+)`)
	for _, file := range files {
		for _, found := range declared.FindAllStringSubmatch(string(expect.Value(os.ReadFile(file))(t)), -1) {
			words := wordsOf(found[1])
			last := words[len(words)-1]
			if last == "request" || last == "response" {
				continue
			}
			words[len(words)-1] = singular(last)
			known := false
			for i := range words {
				known = known || terms[strings.Join(words[i:], " ")]
			}
			test.True(t, known, test.Sprintf("docs/words.md has no term for %s", found[1]))
		}
	}
}

func TestSingular_IsTheTermOfAPlural(t *testing.T) {
	t.Parallel()
	for plural, want := range map[string]string{
		"policies": "policy", "hours": "hour", "series": "series", "status": "status", "access": "access",
		"settings": "setting", "booking": "booking", "bonuses": "bonus",
	} {
		test.EqOp(t, want, singular(plural))
	}
}

func TestWordsOf_SplitsNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"QuietHours": "quiet hours", "DisplayURL": "display url", "FCMProject": "fcm project", "Tx": "tx",
	} {
		test.EqOp(t, want, strings.Join(wordsOf(name), " "))
	}
}

var (
	termLine  = regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	qualifier = regexp.MustCompile(` \([^)]*\)`)
	wordPart  = regexp.MustCompile(`[A-Z]+(?:[a-z]+)?|[a-z0-9]+`)
)

// readTerms reads the terms of docs/words.md, in the singular. A line can have several, and "(notice)" only says which
// of two meanings it is.
func readTerms(t *testing.T) map[string]bool {
	t.Helper()
	text := string(expect.Value(os.ReadFile(filepath.Join(root, "docs/words.md")))(t))
	terms := map[string]bool{}
	for _, line := range termLine.FindAllStringSubmatch(text, -1) {
		for term := range strings.SplitSeq(qualifier.ReplaceAllString(line[1], ""), ",") {
			words := strings.Fields(strings.ToLower(strings.ReplaceAll(term, "-", " ")))
			words[len(words)-1] = singular(words[len(words)-1])
			terms[strings.Join(words, " ")] = true
		}
	}
	return terms
}

// wordsOf splits the name of a type into its words. An abbreviation in capitals is one.
func wordsOf(name string) (words []string) {
	for _, part := range wordPart.FindAllString(name, -1) {
		// The last capital before small letters begins the next word: FCMProject.
		if at := strings.LastIndexFunc(part, unicode.IsUpper); at > 0 && at < len(part)-1 {
			words = append(words, strings.ToLower(part[:at]))
			part = part[at:]
		}
		words = append(words, strings.ToLower(part))
	}
	return words
}

func singular(word string) string {
	switch {
	case word == "series" || strings.HasSuffix(word, "ss") || strings.HasSuffix(word, "us"):
		return word
	case strings.HasSuffix(word, "uses"):
		return strings.TrimSuffix(word, "es")
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	default:
		return strings.TrimSuffix(word, "s")
	}
}

// exportedTypes lists the exported types below folders of internal, such as "rules/booking.Slot".
func exportedTypes(t *testing.T, folders ...string) (names []string) {
	t.Helper()
	for _, folder := range folders {
		must.NoError(t, filepath.WalkDir(folder, func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (!isSource(entry.Name()) || isForTests(at)):
				return fs.SkipDir
			case entry.IsDir() || path.Ext(at) != ".go" || strings.HasSuffix(at, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), at, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if types, ok := d.(*ast.GenDecl); ok && types.Tok == token.TYPE {
					for _, spec := range types.Specs {
						if name := spec.(*ast.TypeSpec).Name; name.IsExported() {
							names = append(names, filepath.ToSlash(filepath.Dir(at))+"."+name.Name)
						}
					}
				}
			}
			return nil
		}))
	}
	return names
}

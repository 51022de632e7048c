package mutate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// place returns where a mutant is.
func (m Mutant) place() string {
	if m.Schema != "" {
		return m.Function + ": " + string(m.Kind)
	}
	return fmt.Sprintf("%s:%d %s: %s", m.File, m.Line, m.Function, m.Kind)
}

// A Report is what a run says.
type Report struct {
	Results []Result
	// Stale are the entries of the list of equivalent mutants that fit nothing. Whoever changed the code need not care:
	// the report tells whoever reads the survivors.
	Stale []Equivalent
}

// Write writes what became of the mutants of each package, and the survivors, the most harmful first.
func (r Report) Write(to io.Writer) error {
	counts := make(map[string]map[string]int)
	total := make(map[string]int)
	var survivors, timeouts []Result
	for _, r := range r.Results {
		if r.Verdict == NoMutant {
			continue
		}
		if counts[r.Package] == nil {
			counts[r.Package] = make(map[string]int)
		}
		counts[r.Package][r.Verdict]++
		total[r.Verdict]++
		switch r.Verdict {
		case Survived:
			survivors = append(survivors, r)
		case TimedOut:
			timeouts = append(timeouts, r)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "| Package | Mutants | Killed | Timeouts | Survived |\n|---|---|---|---|---|\n")
	row := func(name string, n map[string]int) {
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d |\n", name, n[Killed]+n[TimedOut]+n[Survived],
			n[Killed], n[TimedOut], n[Survived])
	}
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		row(folder, counts[folder])
	}
	row("**all**", total)
	slices.SortStableFunc(survivors, func(a, b Result) int {
		return cmp.Or(cmp.Compare(harm(a.Mutant), harm(b.Mutant)), cmp.Compare(a.place(), b.place()))
	})
	for i, r := range survivors {
		if rank := harm(r.Mutant); i == 0 || rank != harm(survivors[i-1].Mutant) {
			fmt.Fprintf(&out, "\n## Survived: %s\n", harms[rank].name)
		}
		writeMutant(&out, r)
	}
	if len(timeouts) > 0 {
		fmt.Fprintf(&out, "\n## Timeouts\n")
	}
	for _, r := range timeouts {
		writeMutant(&out, r)
	}
	if len(r.Stale) > 0 {
		fmt.Fprintf(&out, "\n## Equivalent mutants that are none: mend or remove their entries\n\n")
	}
	for _, e := range r.Stale {
		fmt.Fprintf(&out, "- %s\n", e)
	}
	_, err := io.WriteString(to, out.String())
	return err
}

func writeMutant(out *strings.Builder, r Result) {
	fmt.Fprintf(out, "\n%s (%s)\n\n", r.place(), r.ID)
	for line := range strings.Lines(r.Diff()) {
		fmt.Fprintf(out, "    %s", line)
	}
	fmt.Fprintf(out, "\nTests: %s. %s\n", strings.Join(r.Tests, ", "), r.Note)
}

package mutate

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A trace says which tests reach a mutant, so that only these run. The tests run one at a time, and whatever reaches a
// mutant prints its number: code by a call where its statement begins, SQL by a comment in the statement, which pgtest
// prints when the statement is sent. What is printed belongs to the test that the testing package named last, or to its
// part if that ran parallel to others: then it needs none of them.
type trace struct {
	tests      map[int][]string // by the number of the mutant, the most specific first
	everywhere map[int]bool     // reached so often that it was no longer printed
	sends      bool             // some statement was seen
}

// A mark says how a mutant is traced.
type mark int

const (
	noMark mark = iota
	inCode
	inSQL
)

func markOf(m Mutant) mark {
	switch {
	case m.block >= 0:
		return inCode
	case strings.HasPrefix(string(m.Kind), "sql"):
		return inSQL
	default:
		return noMark
	}
}

// tracing is the choice that makes a binary print what its tests reach.
const tracing = -1

// reached begins the line that is printed, and often the one that is printed when there were many.
const (
	reached = "mutant reached "
	often   = "mutant reached often "
)

// reaches is the call that marks code.
func reaches(number int) string { return fmt.Sprintf("mutantReached(%d); ", number) }

// choice returns the file that a bundle adds to its package.
func choice(pack string) string {
	return fmt.Sprintf(`package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutantChosen, _ = strconv.Atoi(os.Getenv(%q))
	mutantMu        sync.Mutex
	mutantCount     = make(map[int]int)
)

func mutantReached(number int) {
	if mutantChosen != %d {
		return
	}
	mutantMu.Lock()
	defer mutantMu.Unlock()
	mutantCount[number]++
	switch n := mutantCount[number]; {
	case n < 20_000:
		_, _ = os.Stdout.WriteString("\n%s" + strconv.Itoa(number) + "\n")
	case n == 20_000:
		_, _ = os.Stdout.WriteString("\n%s" + strconv.Itoa(number) + "\n")
	}
}
`, pack, chosen, tracing, reached, often)
}

// traceOf runs tests one at a time, and returns what they reach; nil if some fail.
func (b *bundle) traceOf(ctx context.Context, p target, c call) (*trace, error) {
	c.mutant = tracing
	o, err := b.run(ctx, p.testPackage, c)
	if err != nil || !o.passed {
		return nil, err
	}
	return readTrace(o.output, b.marks), nil
}

var traceLine = regexp.MustCompile(
	`(?m)^(?:=== (RUN|PAUSE|CONT|NAME) +(([^/\s]+)(?:/[^/\s]+)?)|` + often + `(\d+)|` + reached + `(\d+))`)

// readTrace reads the output of tests that ran one at a time.
func readTrace(output string, marks map[int]mark) *trace {
	t := &trace{tests: make(map[int][]string), everywhere: make(map[int]bool)}
	by := make(map[string]map[int]bool) // numbers by test
	parallel := make(map[string]bool)
	current := ""
	for _, line := range traceLine.FindAllStringSubmatch(output, -1) {
		switch {
		case line[1] == "PAUSE":
			parallel[line[2]] = true
		case line[1] != "":
			current = line[3]
			if parallel[line[2]] {
				current = line[2]
			}
		case line[4] != "":
			number, _ := strconv.Atoi(line[4])
			t.everywhere[number] = true
		default:
			number, _ := strconv.Atoi(line[5])
			t.sends = t.sends || marks[number] == inSQL
			if by[current] == nil {
				by[current] = make(map[int]bool)
			}
			by[current][number] = true
		}
	}
	names := slices.Sorted(maps.Keys(by))
	slices.SortStableFunc(names, func(a, b string) int { return len(by[a]) - len(by[b]) })
	for _, name := range names {
		for number := range by[name] {
			t.tests[number] = append(t.tests[number], name)
		}
	}
	return t
}

// patterns returns patterns of the tests that may notice a mutant, the most promising first. They are all that fit the
// given pattern if the trace does not say. Statements that are sent on a connection of the product itself are not seen.
func (t *trace) patterns(number int, as mark, all string) []string {
	if t == nil || as == noMark || as == inSQL && !t.sends || t.everywhere[number] {
		return []string{all}
	}
	names := t.tests[number]
	if slices.Contains(names, "") { // before the first test
		return []string{all}
	}
	const first = 4
	var patterns []string
	if len(names) > 2*first {
		patterns, names = append(patterns, anyOf(names[:first])), names[first:]
	}
	if len(names) > 0 {
		patterns = append(patterns, anyOf(names))
	}
	return patterns
}

// anyOf returns the pattern of tests with one of the names.
func anyOf(names []string) string {
	patterns := make([]string, len(names))
	for i, name := range names {
		patterns[i] = only(name)
	}
	return strings.Join(patterns, "|")
}

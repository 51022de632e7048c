package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ledger is a table of campaigns in a Markdown file, below the heading "### Ledger".
type Ledger struct {
	// File is the path of the Markdown file.
	File string
}

// ledgerColumns are the columns of the table. The first one identifies a campaign.
var ledgerColumns = []string{
	"Seed", "Day", "Minutes", "Operations", "Faults", "Reset after COMMIT", "Rare cases", "Histories", "Messages",
	"Failures",
}

const ledgerHeading = "\n### Ledger\n"

// Seeds returns the seeds of the campaigns in the ledger.
func (l Ledger) Seeds() (map[uint64]bool, error) {
	text, err := os.ReadFile(l.File)
	if err != nil {
		return nil, err
	}
	table, _, err := cutLedger(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.File, err)
	}
	seeds := make(map[uint64]bool)
	for line := range strings.Lines(string(table)) {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if seed, err := strconv.ParseUint(first, 10, 64); err == nil {
			seeds[seed] = true
		}
	}
	return seeds, nil
}

// Add adds a campaign that ended on this day.
func (l Ledger) Add(r Report, day time.Time) error {
	text, err := os.ReadFile(l.File)
	if err != nil {
		return err
	}
	_, end, err := cutLedger(text)
	if err != nil {
		return fmt.Errorf("%s: %w", l.File, err)
	}
	row := fmt.Sprintf("| %d | %s | %.0f | %d | %d | %d | %d | %d | %d | %d |\n", r.Seed, day.Format(time.DateOnly),
		r.Took.Minutes(), r.Operations, sum(r.Faults), r.CutCommits, sum(r.Rare), r.Histories, r.Messages, len(r.Failures))
	return os.WriteFile(l.File, slices.Insert(text, end, []byte(row)...), 0o644) //nolint:gosec // a page of the docs
}

// sum adds up counts.
func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// cutLedger returns the table, and the position of its end.
func cutLedger(text []byte) (table []byte, end int, err error) {
	at := bytes.Index(text, []byte(ledgerHeading))
	head := []byte("| " + strings.Join(ledgerColumns, " | ") + " |\n")
	begin := bytes.Index(text[max(at, 0):], head)
	if at < 0 || begin < 0 {
		return nil, 0, errors.New("no ledger, or not with its columns")
	}
	begin += at
	for end = begin; bytes.HasPrefix(text[end:], []byte("|")); {
		end += bytes.IndexByte(append(text[end:len(text):len(text)], '\n'), '\n') + 1
	}
	end = min(end, len(text))
	return text[begin:end], end, nil
}

package waitlist

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// The contract has each reason of a verdict, and no others.
func TestVerdict_ReasonsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	ours := slices.Collect(maps.Keys(reasonTexts))
	ours = append(ours, Promoted, WasOffered)
	var theirs []string
	for number, name := range v1.WaitlistVerdictReason_name {
		if number != 0 {
			theirs = append(theirs, strings.TrimPrefix(name, "WAITLIST_VERDICT_REASON_"))
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	test.Eq(t, ours, theirs)
}

package waitlist

import (
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// The contract has each reason of a verdict, and no others.
func TestVerdict_ReasonsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	ours := []string{string(Promoted), string(WasOffered)}
	for reason := range reasonTexts {
		ours = append(ours, string(reason))
	}
	slices.Sort(ours)
	test.Eq(t, ours, namesOf(v1.WaitlistVerdictReason_name, "WAITLIST_VERDICT_REASON_"))
}

// The contract has each cause for which an offer is withdrawn, and no others.
func TestCause_IsInTheContract(t *testing.T) {
	t.Parallel()
	ours := []string{
		string(TooSlow), string(FewerSeats), string(OffSale), string(SessionMoved), string(SessionGone), string(Unsendable),
		string(EntryLeft),
	}
	slices.Sort(ours)
	test.Eq(t, ours, namesOf(v1.WaitlistOfferWithdrawReason_name, "WAITLIST_OFFER_WITHDRAW_REASON_"))
}

// namesOf returns the sorted names of an enum's values but the first, without their prefix.
func namesOf(values map[int32]string, prefix string) []string {
	var names []string
	for number, name := range values {
		if number != 0 {
			names = append(names, strings.TrimPrefix(name, prefix))
		}
	}
	slices.Sort(names)
	return names
}

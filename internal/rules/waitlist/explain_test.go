package waitlist_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func named(m tenant.MemberID) string {
	return []string{"", "Ana", "Bea", "Caro", "Dina"}[min(m.UUID[15], 4)]
}

func TestExplain_DescribesDecision(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rules   set
		slot    waitlist.Slot
		queue   []waitlist.Candidate
		round   waitlist.Round
		trigger waitlist.Trigger
		want    []string
		note    string
	}{
		"an offer": {nil, slot(1), queue(3), waitlist.Round{}, waitlist.ByCancellation, []string{
			"On Monday 16 March 2026 at 12:00 a booking was cancelled, and 1 seat was open.",
			"3 entries were on the waitlist.",
			"Offered to: Ana (1 seat, until Monday 16 March 2026 at 12:30).",
			"Not chosen: 2 because all open seats went to earlier entries.",
		}, ""},
		"a roll": {nil, slot(1), queue(2), tried(0), waitlist.ByDecline, []string{
			"On Monday 16 March 2026 at 12:00 an offer was declined, and 1 seat was open.",
			"2 entries were on the waitlist.",
			"1 person had already been offered these seats.",
			"Offered to the next: Bea (1 seat, until Monday 16 March 2026 at 12:30).",
			"Not chosen: 1 because the entry had already been offered these seats.",
		}, ""},
		"handed back": {nil, slot(1), queue(2), tried(0, 1), waitlist.ByExpiry, []string{
			"On Monday 16 March 2026 at 12:00 an offer was not answered in time, and 1 seat was open.",
			"2 entries were on the waitlist.",
			"2 people had already been offered these seats.",
			"No one got a seat.",
			"Not chosen: 2 because the entry had already been offered these seats.",
			"1 seat left after offers to 2 people: there is no one left to offer to.",
		}, "1 seat left after offers to 2 people: there is no one left to offer to. Anyone can book it. You can also call " +
			"someone, book a walk-in, or offer the seat yourself."},
		"handed back by the cap": {set{"MaxTriesPerSlot": 1}, slot(1), queue(2), tried(0),
			waitlist.ByExpiry, nil,
			"1 seat left after offers to 1 person: the rules allow no more. Anyone can book it. You can also call someone, " +
				"book a walk-in, or offer the seat yourself."},
		"handed back by choice": {set{"AutoCascade": false}, slot(1), queue(2), tried(0),
			waitlist.ByExpiry, nil,
			"1 seat left after offers to 1 person: the rules leave the next offer to you. Anyone can book it. You can also " +
				"call someone, book a walk-in, or offer the seat yourself."},
		"handed back for the hour": {nil, vary.From(slot(1), set{"Closes": now}), queue(2),
			tried(0), waitlist.ByExpiry, nil,
			"1 seat left after offers to 1 person: it is too late for another offer. Anyone can book it. You can also call " +
				"someone, book a walk-in, or offer the seat yourself."},
		"empty queue": {nil, slot(2), nil, waitlist.Round{}, waitlist.ByNoShow, []string{
			"On Monday 16 March 2026 at 12:00 a booking was marked as a no-show, and 2 seats were open.",
			"The waitlist was empty.",
			"No one got a seat.",
			"2 seats left: the waitlist is empty.",
		}, "2 seats left: the waitlist is empty. Anyone can book them. You can also call someone, book walk-ins, or offer " +
			"the seats yourself."},
		"no one fits": {nil, slot(2), parties(3), waitlist.Round{},
			waitlist.ByCapacity, nil,
			"2 seats left: no one on the waitlist fits (1 entry). Anyone can book them. You can also call someone, book " +
				"walk-ins, or offer the seats yourself."},
		"no one else fits": {nil, slot(2), queue(1), waitlist.Round{}, waitlist.ByCapacity, nil,
			"1 seat left: no one else on the waitlist fits. Anyone can book it. You can also call someone, book a walk-in, " +
				"or offer the seat yourself."},
		"promoted": {auto, slot(2), queue(2), waitlist.Round{},
			waitlist.ByReschedule, []string{
				"On Monday 16 March 2026 at 12:00 a booking was rescheduled, and 2 seats were open.",
				"2 entries were on the waitlist.",
				"Booked automatically: Ana (1 seat) and Bea (1 seat).",
			}, ""},
		"offered to all": {first, slot(1), queue(12), waitlist.Round{},
			waitlist.ByPublish, []string{
				"On Monday 16 March 2026 at 12:00 the session was published, and 1 seat was open.",
				"12 entries were on the waitlist.",
				"Offered to everyone who fits, and the first to claim gets the seats: Ana (1 seat), Bea (1 seat), Caro (1 " +
					"seat), Dina " +
					"(1 seat), Dina (1 seat), " +
					"Dina (1 seat), Dina (1 seat), Dina (1 seat), Dina (1 seat), Dina (1 seat) and 2 more.",
			}, ""},
		"without limit": {nil, vary.From(slot(1), set{"Seats": nil}), queue(1), waitlist.Round{},
			waitlist.Trigger("else"), []string{
				"On Monday 16 March 2026 at 12:00 seats were freed, and seats were open without limit.",
				"1 entry was on the waitlist.",
				"Offered to: Ana (1 seat, until Monday 16 March 2026 at 12:30).",
			}, ""},
		"some booked, others offered": {auto, slot(2), queueOf(set{"Busy": true}, nil), waitlist.Round{},
			waitlist.ByCancellation, []string{
				"On Monday 16 March 2026 at 12:00 a booking was cancelled, and 2 seats were open.",
				"2 entries were on the waitlist.",
				"Booked automatically: Bea (1 seat).",
				"Offered to: Ana (1 seat, until Monday 16 March 2026 at 12:30).",
			}, ""},
		"on the clocks of the location": {nil, vary.From(slot(1), set{"Zone": "Asia/Tokyo"}), nil,
			waitlist.Round{}, waitlist.BySweep, []string{
				"On Monday 16 March 2026 at 21:00 a regular check found open seats, and 1 seat was open.",
				"The waitlist was empty.",
				"No one got a seat.",
				"1 seat left: the waitlist is empty.",
			}, "1 seat left: the waitlist is empty. Anyone can book it. You can also call someone, book a walk-in, or offer " +
				"the seat yourself."},
	} {
		d := waitlist.Decide(tt.slot, tt.queue, tt.round, tt.trigger, rules(t, tt.rules), now)
		if tt.want != nil {
			test.Eq(t, tt.want, waitlist.Explain(d, tt.trigger, tt.slot, now, named), test.Sprint(name))
		}
		test.EqOp(t, tt.note, waitlist.Note(d), test.Sprint(name))
	}
}

func TestExplain_NamesMembersWithoutNameSomeone(t *testing.T) {
	t.Parallel()
	d := waitlist.Decide(slot(1), queue(1), waitlist.Round{}, waitlist.ByHand, rules(t, nil), now)
	all := waitlist.Explain(d, waitlist.ByHand, slot(1), now, func(tenant.MemberID) string { return "" })
	test.StrContains(t, all[2], "someone (1 seat", test.Sprint(all))
}

func TestExplainEntry_DescribesVerdict(t *testing.T) {
	t.Parallel()
	all := queueOf(nil, set{"Party": 3}, nil, set{"Refusal": string(fault.NoCredits)}, nil)
	for name, tt := range map[string]struct {
		rules set
		entry int
		want  []string
	}{
		"offered": {
			nil, 0,
			[]string{
				"This entry was number 1 of 5 on the waitlist.", "It was offered 1 seat, until Monday 16 March 2026 at 12:30.",
			},
		},
		"too many": {nil, 1, []string{"This entry was number 2 of 5 on the waitlist, and 1 entry before it got seats.",
			"It was not chosen, because there were not enough seats for the party: it needs 3 seats."}},
		"refused": {nil, 3, []string{"This entry was number 4 of 5 on the waitlist, and 2 entries before it got seats.",
			"It was not chosen, because all open seats went to earlier entries."}},
		"promoted": {auto, 2, []string{
			"This entry was number 3 of 5 on the waitlist, and 1 entry before it got seats.", "1 seat was booked for it."}},
		"claimable": {first, 2, []string{
			"This entry was number 3 of 5 on the waitlist, and 1 entry before it had the same chance.",
			"It could claim 1 seat, until Monday 16 March 2026 at 12:30 unless others claimed first."}},
		"no credits": {first, 3, []string{
			"This entry was number 4 of 5 on the waitlist, and 2 entries before it had the same chance.", "It was not chosen, " +
				"because no credits were left."}},
		"not there": {nil, 9, []string{"This entry was not on the waitlist then."}},
	} {
		d := waitlist.Decide(slot(2), all, waitlist.Round{}, waitlist.ByCancellation, rules(t, tt.rules), now)
		want := append(
			[]string{"On Monday 16 March 2026 at 12:00 a booking was cancelled, and 2 seats were open."}, tt.want...,
		)
		test.Eq(t, want,
			waitlist.ExplainEntry(d, waitlist.ByCancellation, slot(2), now, entry(tt.entry)), test.Sprint(name))
	}
}

// constants returns the names and values of the string constants in a file of this package.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed := expect.Value(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
	all := make(map[string]string)
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				all[spec.Names[0].Name] = expect.Value(strconv.Unquote(literal.Value))(t)
			}
		}
		return true
	})
	return all
}

// Each trigger and each reason has its own text.
func TestExplain_HasTextForEveryTriggerAndReason(t *testing.T) {
	t.Parallel()
	sentences := make(map[string]string)
	for name, value := range constants(t, "decide.go") {
		d := waitlist.Decision{
			Seats: new(1), Mode: waitlist.OfferInTurn,
			Verdicts: []waitlist.Verdict{{Entry: entry(0), Reason: waitlist.VerdictReason(value), Party: 1}},
		}
		switch {
		case strings.HasPrefix(name, "By"):
			value = waitlist.Explain(d, waitlist.Trigger(value), slot(1), now, named)[0]
			test.StrNotContains(t, value, "seats were freed", test.Sprintf("%s has no text", name))
		case slices.Contains([]string{"NobodyFits", "MakeOffer", "RollOn", "HandBack", "noMove"}, name):
			continue
		default:
			value = waitlist.ExplainEntry(d, waitlist.ByHand, slot(1), now, entry(0))[2]
			test.StrNotContains(t, value, "would have been refused (", test.Sprintf("%s has no text", name))
		}
		other, ok := sentences[value]
		test.False(t, ok, test.Sprintf("%s and %s have the same text: %s", name, other, value))
		sentences[value] = name
	}
}

func TestExplainEntry_DescribesUnknownReasons(t *testing.T) {
	t.Parallel()
	d := waitlist.Decision{Verdicts: []waitlist.Verdict{{Entry: entry(0), Reason: "SOMETHING_NEW"}}}
	got := waitlist.ExplainEntry(d, waitlist.ByHand, slot(1), now, entry(0))[2]
	test.EqOp(t, "It was not chosen, because a booking would have been refused (something new).", got)
}

// Sentences are complete, and contain no codes.
func TestExplain_ReturnsCompleteSentences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		d := w.Decide(w.rules)
		all := waitlist.Explain(d, w.Trigger, w.Slot, w.Now, named)
		for _, c := range w.Queue {
			all = append(all, waitlist.ExplainEntry(d, w.Trigger, w.Slot, w.Now, c.Entry)...)
		}
		note := waitlist.Note(d)
		must.EqOp(t, (d.Left() > 0), (note != ""), must.Sprintf("%d seats left, and the note is %q", d.Left(), note))
		if note != "" {
			all = append(all, note)
		}
		for _, s := range slices.Compact(slices.Sorted(slices.Values(all))) {
			must.RegexMatch(t, sentence, s)
			must.False(t, badWords.MatchString(s), must.Sprint(s))
		}
	})
}

var sentence, badWords = regexp.MustCompile(`^[A-Z0-9].*\.$`), regexp.MustCompile(`_|  |%!|\b1 seats`)

func TestExplain_IsShortForLongQueues(t *testing.T) {
	t.Parallel()
	d := waitlist.Decide(slot(1), queue(10_000), waitlist.Round{}, waitlist.ByCancellation, rules(t, nil), now)
	all := waitlist.Explain(d, waitlist.ByCancellation, slot(1), now, named)
	test.Len(t, 4, all)
	test.LessEq(t, 1_000, len(strings.Join(all, " ")))
}

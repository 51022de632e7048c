package booking

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Place is somebody's place in a session: a member's or a guest's.
type Place struct {
	Session tenant.SessionID
	Member  tenant.MemberID // zero for a guest
	Guest   string          // the name of a guest
}

// ImportFacts are what the rows of a file are judged by. Rows that take a seat change them for those after them.
type ImportFacts struct {
	// Places are those of bookings, and of members on the waitlist.
	Places map[Place]bool
	// Subscriptions are those of the members that have not ended, as of now.
	Subscriptions map[tenant.MemberID][]*credit.Subscription
	// Renewals are the lines that the subscriptions got by now and that are not written yet.
	Renewals map[tenant.SubscriptionID][]credit.Line
	// Busy are the spans of the members' bookings that must not overlap others.
	Busy map[tenant.MemberID][]civil.Span
}

// NewImportFacts makes facts of places, and of subscriptions as they are stored.
func NewImportFacts(places []Place, subscriptions []credit.Subscription, now time.Time) *ImportFacts {
	f := &ImportFacts{
		Places:        make(map[Place]bool),
		Subscriptions: make(map[tenant.MemberID][]*credit.Subscription),
		Renewals:      make(map[tenant.SubscriptionID][]credit.Line),
		Busy:          make(map[tenant.MemberID][]civil.Span),
	}
	for _, p := range places {
		f.Places[p] = true
	}
	for _, stored := range subscriptions {
		current, renewal := credit.Advance(stored, now)
		if slices.Contains(credit.OpenStatuses(), current.Status) {
			f.Subscriptions[current.Member] = append(f.Subscriptions[current.Member], &current)
			f.Renewals[current.ID] = renewal
		}
	}
	return f
}

// Take gives a row its seats in a session that was found for it, or adds the problem to the row. The seats were booked
// elsewhere, so the rules on who may book when and for how many do not apply, and no credit is taken: those that paid
// elsewhere are not in the balance. They come in and go out, so that cancelling returns them.
func (f *ImportFacts) Take(
	row *ImportRow, s *Slot, id tenant.BookingID, actor string, now time.Time,
) (BookResult, bool) {
	place := Place{s.ID, row.Member, strings.ToLower(row.Guest)}
	switch {
	case s.State != catalog.Published || s.Blocked:
		row.AddProblem(fault.SessionNotOpen, "start", "The session is not published, or is blocked.")
	case !s.StartsAt.After(now):
		row.AddProblem(fault.SessionNotOpen, "start", "The session has started: only future bookings are imported.")
	case f.Places[place] && row.Guest != "":
		row.AddProblem(fault.AlreadyBooked, "guest", "A guest with this name has booked the session.")
	case f.Places[place]:
		row.AddProblem(fault.AlreadyBooked, "", "The member has booked the session, or waits for it.")
	case !s.Fits(row.Seats):
		row.AddProblem(fault.SessionFull, "seats", "Too few seats are left in the session: %d.", *s.SeatsOpen())
	default:
		result, ok := f.pay(row, s, id, actor, now)
		if ok {
			s.SeatsTaken += row.Seats
			f.Places[place] = true
		}
		return result, ok
	}
	return BookResult{}, false
}

// pay puts a booking on the subscription that paid for it, if the row says so.
func (f *ImportFacts) pay(
	row *ImportRow, s *Slot, id tenant.BookingID, actor string, now time.Time,
) (BookResult, bool) {
	if row.Paid == 0 && row.Plan == "" {
		return BookResult{}, true
	}
	payer := f.payer(row)
	if payer == nil {
		return BookResult{}, false
	}
	span := civil.Span{Start: s.StartsAt, End: s.EndsAt}
	result := BookResult{Counted: payer.Plan.HasQuota(), Exclusive: !payer.Plan.AllowOverlap}
	if result.Exclusive {
		for _, busy := range f.Busy[row.Member] {
			if busy.Overlaps(span) {
				row.AddProblem(fault.Overlap, "start", "The member has another booking at that time, and the plan forbids it.")
				return BookResult{}, false
			}
		}
		f.Busy[row.Member] = append(f.Busy[row.Member], span)
	}
	if row.Paid > 0 {
		result.Ledger = payer.TakeOver(f.Renewals[payer.ID], id, row.Paid, actor, now)
		delete(f.Renewals, payer.ID)
		result.Credits = row.Paid
	}
	after := *payer
	result.Payer = &after
	return result, true
}

// payer returns the subscription that paid for a row, or adds the problem to the row.
func (f *ImportFacts) payer(row *ImportRow) *credit.Subscription {
	var found []*credit.Subscription
	for _, s := range f.Subscriptions[row.Member] {
		named := row.Plan == "" || strings.EqualFold(row.Plan, s.Plan.Name)
		if named && s.Plan.Kind != credit.Course && (row.Paid == 0 || s.Plan.Kind == credit.Credits) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) == 0 && row.Plan == "":
		row.AddProblem(fault.SubscriptionNotFound, "credits_paid",
			"The member has no plan with credits, to which they could return.")
	case len(found) == 0:
		row.AddProblem(fault.SubscriptionNotFound, "plan", "The member has no such plan that books sessions.")
	default:
		row.AddProblem(fault.SubscriptionNotFound, "plan", "The member has several: name the one that paid.")
	}
	return nil
}

// CheckImported compares the seats of a file with those that are taken in sessions, by how many they were before and
// are now, and returns both sums. A session that differs is IMPORT_MISMATCH.
func CheckImported(
	rows []ImportRow, sessions []Slot, before, after map[tenant.SessionID]int,
) (file, total int, err error) {
	seats := make(map[tenant.SessionID]int)
	first := make(map[tenant.SessionID]ImportRow)
	for i, s := range sessions {
		if _, known := first[s.ID]; !known {
			first[s.ID] = rows[i]
		}
		seats[s.ID] += rows[i].Seats
		file += rows[i].Seats
	}
	for id, n := range seats {
		if added := after[id] - before[id]; added != n {
			row := first[id]
			return 0, 0, fault.New(fault.FailedPrecondition, fault.ImportMismatch,
				"The file has %d seats in the session of row %d, and it would have %d more. Nothing was imported.",
				n, row.Number, added).WithMetadata("row", strconv.Itoa(row.Number))
		}
		total += after[id] - before[id]
	}
	return file, total, nil
}

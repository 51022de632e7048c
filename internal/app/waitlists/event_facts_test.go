package waitlists_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// queued is a full session, for which a member with a plan waits for two seats with a partner's reference.
type queued struct {
	*testkit.Studio
	mia, holder, other tenant.Caller
	pack               credit.Subscription
	class              tenant.SessionID
	booked             tenant.BookingID
	entry, first       tenant.EntryID // Mia's, and that of who waits before her, if anyone does
}

// join lets Mia wait, in a waitlist of a mode.
func (q *queued) join(mode waitlist.Mode) {
	q.T.Helper()
	q.SetMode(mode)
	r := testkit.ForSessions(q.class)
	r.Party, r.ExternalRef = 2, "x-1"
	q.entry = q.MustJoin(q.mia, r).ID
}

// free frees the two seats.
func (q *queued) free() {
	q.T.Helper()
	q.MustCancel(q.holder, q.booked)
}

// offer offers Mia the two seats.
func (q *queued) offer() waitlist.Offer {
	q.T.Helper()
	q.join(waitlist.OfferInTurn)
	q.free()
	return q.LiveOffer(q.entry)
}

// facts are what an event says beside its data.
type facts struct {
	status  string
	ref     string
	payment payment.Status
	credits int
	paid    bool // by the plan
}

type queuedRow struct {
	happens func(q *queued)
	data    func(q *queued) event.Data
	facts   facts
}

func says(data event.Data) func(*queued) event.Data { return func(*queued) event.Data { return data } }

func testQueued(t *testing.T, rows map[string]queuedRow) {
	t.Helper()
	testkit.Each(t, rows, func(studio *testkit.Studio, want queuedRow) {
		studio.TakePayments()
		q := &queued{
			Studio: studio, mia: studio.AddMember("Mia"), holder: studio.AddMember("Holder"), other: studio.AddMember("Noa"),
		}
		pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 10})
		q.pack = studio.Subscribe(q.mia, pack)
		studio.Subscribe(q.holder, pack)
		studio.Subscribe(q.other, pack)
		q.class = studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 50})
		q.booked = expect.Value(studio.Book(
			q.holder, q.class, func(r *bookings.BookRequest) { r.Party = 2 },
		))(studio.T).Booking.ID
		want.happens(q)
		data := want.data(q)
		e := studio.LastEvent(data.Type())
		var payer tenant.SubscriptionID
		if want.facts.paid {
			payer = q.pack.ID
		}
		test.EqOp(studio.T, q.class, e.Session)
		test.EqOp(studio.T, q.mia.Member, e.Member)
		test.EqOp(studio.T, q.entry, e.Entry)
		test.Eq(studio.T, data, e.Data)
		test.EqOp(studio.T, want.facts.status, e.Facts.Status)
		test.EqOp(studio.T, 2, e.Facts.Party)
		test.EqOp(studio.T, want.facts.ref, e.Facts.ExternalRef)
		test.EqOp(studio.T, string(want.facts.payment), e.Facts.Payment.Status)
		test.EqOp(studio.T, want.facts.credits, e.Facts.Credits)
		test.EqOp(studio.T, payer, e.Facts.Subscription)
	})
}

// An event of an entry says what has become of the entry, with the values before and after.
func TestEntryEvents_SayWhatHappened(t *testing.T) {
	t.Parallel()
	behind := func(q *queued) {
		q.SetMode(waitlist.OfferInTurn)
		q.first = q.MustJoin(q.other, testkit.ForSessions(q.class)).ID
		q.join(waitlist.OfferInTurn)
	}
	waiting := facts{status: string(waitlist.Waiting), ref: "x-1"}
	testQueued(t, map[string]queuedRow{
		"joined": {happens: behind, data: says(event.WaitlistJoined{Position: 2}), facts: waiting},
		"left": {
			happens: func(q *queued) {
				q.join(waitlist.OfferInTurn)
				expect.OK(q.T)(q.App.Waitlists.LeaveWaitlist(q.T.Context(), testkit.SelfOnly(q.mia), q.entry, "ill", true))
			},
			data:  says(event.WaitlistLeft{Reason: "ill", Notify: true}),
			facts: facts{status: string(waitlist.Cancelled), ref: "x-1"},
		},
		"removed in silence": {
			happens: func(q *queued) {
				q.join(waitlist.OfferInTurn)
				expect.OK(q.T)(q.App.Waitlists.LeaveWaitlist(q.T.Context(), q.Owner, q.entry, "", false))
			},
			data: says(event.WaitlistLeft{}), facts: facts{status: string(waitlist.Cancelled), ref: "x-1"},
		},
		"flagged and scored": {
			happens: func(q *queued) {
				behind(q)
				expect.OK(q.T)(q.App.Waitlists.SetWaitlistPriority(
					q.T.Context(), q.Owner, q.entry, waitlists.PriorityEdit{Flagged: new(true), Score: new(7)},
				))
			},
			data:  says(event.WaitlistChanged{Flagged: true, Score: new(7), Position: 1, PositionBefore: 2}),
			facts: waiting,
		},
		"moved": {
			happens: func(q *queued) {
				behind(q)
				expect.OK(q.T)(q.App.Waitlists.MoveWaitlistEntry(q.T.Context(), q.Owner, q.entry, q.first, ""))
			},
			data: says(event.WaitlistChanged{Position: 1, PositionBefore: 2}), facts: waiting,
		},
		"promoted": {
			happens: func(q *queued) {
				q.join(waitlist.AutoPromote)
				q.free()
			},
			data: says(event.WaitlistPromoted{}),
			facts: facts{
				status: string(booking.Confirmed), ref: "x-1", payment: payment.Unpaid, credits: -2, paid: true,
			},
		},
	})
}

// An event of an offer says what has become of the offer, and of the booking that it led to.
func TestOfferEvents_SayWhatHappened(t *testing.T) {
	t.Parallel()
	ended := func(status waitlist.OfferStatus) facts { return facts{status: string(status)} }
	testQueued(t, map[string]queuedRow{
		"made": {
			happens: func(q *queued) { q.offer() },
			data: func(q *queued) event.Data {
				return event.OfferCreated{Expires: q.LiveOffer(q.entry).ExpiresAt, Try: 1}
			},
			facts: ended(waitlist.Live),
		},
		"made to several": {
			happens: func(q *queued) {
				q.join(waitlist.FirstToClaim)
				q.free()
			},
			data: func(q *queued) event.Data {
				return event.OfferCreated{Expires: q.LiveOffer(q.entry).ExpiresAt, FirstToClaim: true, Try: 1}
			},
			facts: ended(waitlist.Live),
		},
		"accepted": {
			happens: func(q *queued) { expect.OK(q.T)(q.Accept(q.mia, q.offer())) },
			data:    says(event.OfferAccepted{}), facts: ended(waitlist.Accepted),
		},
		"booked": {
			happens: func(q *queued) { expect.OK(q.T)(q.Accept(q.mia, q.offer())) },
			data:    says(event.BookingConfirmed{}),
			facts: facts{
				status: string(booking.Confirmed), ref: "x-1", payment: payment.Unpaid, credits: -2, paid: true,
			},
		},
		"declined": {
			happens: func(q *queued) {
				expect.OK(q.T)(q.App.Waitlists.DeclineWaitlistOffer(
					q.T.Context(), testkit.SelfOnly(q.mia), q.offer().ID, false, "ill",
				))
			},
			data: says(event.OfferDeclined{Reason: "ill"}), facts: ended(waitlist.Declined),
		},
		"expired": {
			happens: func(q *queued) {
				q.Clock.Set(q.offer().ExpiresAt)
				q.Sweep()
			},
			data: says(event.OfferExpired{}), facts: ended(waitlist.RanOut),
		},
		"withdrawn with its session": {
			happens: func(q *queued) {
				q.offer()
				expect.OK(q.T)(q.App.Schedules.CancelSession(q.T.Context(), q.Owner, q.class, schedules.Removal{
					Reason: "flood", Notify: true,
				}))
			},
			data:  says(event.OfferWithdrawn{Cause: string(waitlist.SessionGone), Reason: "flood"}),
			facts: ended(waitlist.Withdrawn),
		},
		"withdrawn since its entry left": {
			happens: func(q *queued) {
				q.offer()
				expect.OK(q.T)(q.App.Waitlists.LeaveWaitlist(q.T.Context(), testkit.SelfOnly(q.mia), q.entry, "ill", true))
			},
			data:  says(event.OfferWithdrawn{Cause: string(waitlist.EntryLeft)}),
			facts: ended(waitlist.Withdrawn),
		},
	})
}

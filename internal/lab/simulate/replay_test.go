package simulate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The script of a simulated life runs against Postgres through the use cases, with the same clock. Each operation has
// the same answer, and leaves the same bookings, queues, offers, decisions and ledgers. BERTH_REPLAYS sets how many
// lives.
func TestRun_IsWhatTheServiceDoes(t *testing.T) {
	t.Parallel()
	lives := 2
	if text := os.Getenv("BERTH_REPLAYS"); text != "" {
		lives = expect.Value(strconv.Atoi(text))(t)
	}
	for seed := range uint64(lives) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := replayLife(t, seed, 0)
			for _, difference := range r.differences {
				t.Error(difference)
			}
			r.WantSound()
			t.Logf("%d operations", r.operations)
		})
	}
}

// A simulation with a bug is not what the service does.
func TestRun_WithBugIsNotWhatTheServiceDoes(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]bug{
		"a freed seat stays free": noFillOnCancel, "a late cancellation is refunded": refundLate,
		"a charge is not in the ledger": dropLedgerLine, "unclaimed seats are kept": unreservedOffers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(0); ; seed++ { // until it matters
				if len(replayLife(t, seed, b).differences) > 0 {
					return
				}
			}
		})
	}
}

// replayLife repeats a week, until the first difference.
func replayLife(t *testing.T, seed uint64, b bug) *replay {
	t.Helper()
	r := &replay{Studio: testkit.New(t)}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := Run(ctx, Options{
		Seed: seed, From: testkit.UTC("2026-03-26T00:00:00Z"), Length: 7 * day, Size: Small,
		NoMessages: true, OnSetUp: r.setUp, OnOperation: r.operate, bug: b,
	})
	if b == 0 {
		must.NoError(t, err)
	}
	return r
}

// replay is a studio in which the operations of a simulation are repeated. Its maps lead from the ids of the
// simulation to those of the studio.
type replay struct {
	*testkit.Studio
	operations    int
	services      map[tenant.ServiceID]settings.PolicyTarget
	people        map[tenant.MemberID]tenant.Caller
	plans         map[tenant.PlanID]credit.Plan
	sessions      ids[tenant.SessionID]
	bookings      ids[tenant.BookingID]
	entries       ids[tenant.EntryID]
	offers        ids[tenant.OfferID]
	subscriptions ids[tenant.SubscriptionID]
	caused        []Event // of operations that no one asked for, until their cause ends
	decided       map[string][]string
	differences   []string // of the first operation that has some
}

// ids are the ids of the studio by those of the simulation, and the other way round.
type ids[I comparable] struct{ here, there map[I]I }

func (i *ids[I]) add(there, here I) {
	if i.here == nil {
		i.here, i.there = make(map[I]I), make(map[I]I)
	}
	i.here[there], i.there[here] = here, there
}

func (r *replay) setUp(of Tenant) {
	r.Clock.Set(testkit.UTC("2026-03-25T23:59:00Z"))
	r.TakePayments()
	locations := make(map[tenant.LocationID]tenant.LocationID)
	for _, l := range of.Locations {
		locations[l.ID] = r.AddLocation(catalog.Location{Name: l.TimeZone, TimeZone: l.TimeZone})
	}
	r.services = make(map[tenant.ServiceID]settings.PolicyTarget)
	for i, s := range of.Services {
		target := settings.PolicyTarget{Location: locations[s.Location], Service: r.AddService(catalog.Service{
			Name: fmt.Sprint("Service ", i), Duration: s.Duration, MaxParty: s.MaxParty,
		})}
		r.services[s.ID] = target
		r.SetPolicyOf(target, func(p *catalog.PolicyLayer) {
			all := s.Policy.Layer()
			all.Level, all.Scope, all.Version, all.UpdatedAt, all.WaitlistEnabled = p.Level, p.Scope, p.Version, p.UpdatedAt, nil
			*p = all
		})
		r.setRules(target, s.Rules)
	}
	r.decided = make(map[string][]string)
	r.people = make(map[tenant.MemberID]tenant.Caller)
	for _, m := range of.Members {
		r.people[m.ID] = r.AddMemberWith(member.Member{Name: m.Name, Tier: m.Tier, TimeZone: m.TimeZone})
	}
	r.plans = make(map[tenant.PlanID]credit.Plan)
	for _, p := range of.Plans {
		there := p.ID
		p.ID = tenant.PlanID{}
		r.plans[there] = r.AddPlan(p)
	}
}

func (r *replay) setRules(target settings.PolicyTarget, rules waitlist.Rules) {
	expect.OK(r.T)(r.App.Settings.UpdateWaitlistRules(context.Background(), r.Owner, settings.RulesEdit{
		Target: target, Reason: "as simulated", Edit: func(s *waitlist.Settings) { *s = rules.Settings() },
	}))
}

// operate repeats an operation, and compares its answer and what it left.
func (r *replay) operate(op Operation, state State) {
	if len(r.differences) > 0 {
		return
	}
	if op.Cause != "" {
		r.caused = append(r.caused, op.Events...)
		return
	}
	r.operations++
	r.Clock.Set(op.At)
	err := r.run(op, state)
	events := slices.Concat(r.caused, op.Events)
	r.caused = nil
	for _, ev := range events {
		r.learn(ev)
	}
	differ := func(format string, args ...any) {
		name := fmt.Sprintf("operation %d, %s at %s: ", r.operations, op.Name, op.At.Format(time.RFC3339))
		r.differences = append(r.differences, name+fmt.Sprintf(format, args...))
	}
	if reason := fault.ReasonOf(err); reason != op.Reason {
		differ("the simulation answered %q, the service %q: %v", op.Reason, reason, err)
	}
	if len(events) > 0 || op.Name == "sweep" || op.Name == "alarm" {
		if diff := gocmp.Diff(r.theirs(state), r.ours()); diff != "" {
			differ("the simulation (-) and the service (+) differ after %v:\n%s", events, diff)
		}
	}
}

// run asks the service for what was asked of the simulation.
func (r *replay) run(op Operation, state State) (err error) {
	ctx := context.Background()
	by, who := func(staff bool, of tenant.MemberID) tenant.Caller {
		if staff {
			return r.Owner
		}
		return r.people[of]
	}, r.people[op.Member]
	if !op.Booking.IsZero() {
		who = r.people[r.memberOf(state, op.Booking)]
	}
	caller := testkit.SelfOnly(who)
	if op.Staff {
		caller = r.Owner
	}
	b, e, o := r.bookings.here[op.Booking], r.entries.here[op.Entry], r.offers.here[op.Offer]
	in := r.sessions.here[op.Session]
	switch op.Name {
	case "publish":
		r.publish(state, op.Events[0].Session)
	case "book":
		// The simulated staff cannot book where others cannot.
		caller := by(op.Staff, op.Member)
		caller.May = maps.Clone(caller.May)
		for _, exempt := range []string{
			booking.BeforeOpening, booking.AfterStart, booking.RecordPast, booking.BlockedSession,
		} {
			delete(caller.May, exempt)
		}
		_, err = r.App.Bookings.Book(ctx, caller, bookings.BookRequest{
			Session: in, Member: who.Member, Party: op.Party, Subscription: r.subscriptions.here[op.Subscription],
			Channel: catalog.Online, RefuseFull: op.RefuseFull, Hold: op.Hold,
		})
	case "confirm":
		request, caller := bookings.ConfirmRequest{ID: b}, testkit.SelfOnly(who)
		if op.On {
			request.Paid, caller = testkit.FiftyEuros, r.Owner // members do not record what they pay
		}
		_, err = r.App.Bookings.ConfirmBooking(ctx, caller, request)
	case "release":
		_, err = r.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(who), b)
	case "cancel":
		_, err = r.App.Bookings.CancelBooking(ctx, caller, bookings.CancelRequest{ID: b, OverrideWindow: !caller.SelfOnly})
	case "reschedule":
		_, err = r.App.Bookings.RescheduleBooking(ctx, caller, bookings.RescheduleRequest{ID: b, To: in})
	case "check in":
		_, err = r.scan(who, b)
	case "no-show":
		_, err = r.App.Bookings.MarkNoShow(ctx, r.Coach, b)
	case "undo no-show":
		_, err = r.App.Bookings.UndoNoShow(ctx, r.Coach, b)
	case "join", "join a window":
		request := waitlists.JoinRequest{Member: who.Member, Party: op.Party, Channel: catalog.Online}
		for _, id := range op.Sessions {
			request.Sessions = append(request.Sessions, r.sessions.here[id])
		}
		if op.Window != nil {
			window, target := *op.Window, r.services[op.Window.Service]
			window.Service, window.Location = target.Service, target.Location
			request.Window = &window
		}
		_, err = r.App.Waitlists.JoinWaitlist(ctx, by(op.Staff, op.Member), request)
	case "leave":
		_, err = r.App.Waitlists.LeaveWaitlist(ctx, r.Owner, e, "", false)
	case "prioritize":
		_, err = r.App.Waitlists.SetWaitlistPriority(ctx, r.Owner, e, waitlists.PriorityEdit{Flagged: &op.On})
	case "accept":
		_, err = r.App.Waitlists.AcceptWaitlistOffer(ctx, r.Owner, o, tenant.SubscriptionID{})
	case "decline":
		_, err = r.App.Waitlists.DeclineWaitlistOffer(ctx, r.Owner, o, op.On, "")
	case "offer by hand":
		_, err = r.App.Waitlists.CreateWaitlistOffer(ctx, r.Owner, waitlists.OfferRequest{Session: in, Entry: e})
	case "block":
		if op.On {
			_, err = r.App.Schedules.BlockSession(ctx, r.Owner, in, "repairs")
		} else {
			_, _, err = r.App.Schedules.UnblockSession(ctx, r.Owner, in)
		}
	case "resize":
		_, _, err = r.App.Schedules.UpdateSession(
			ctx, r.Owner, in, nil, session.Input{Capacity: &op.Party}, session.CapacityField)
	case "cancel a session":
		_, err = r.App.Schedules.CancelSession(ctx, r.Owner, in, schedules.Removal{Reason: "illness"})
	case "set rules":
		r.setRules(r.services[op.Service], *op.Rules)
	case "subscribe":
		var made credit.Subscription
		made, err = r.App.Accounts.CreateSubscription(
			ctx, r.Owner, accounts.NewSubscription{Member: who.Member, Plan: r.plans[op.Plan].ID})
		if err == nil {
			r.subscriptions.add(op.Events[0].Subscription, made.ID)
		}
	case "set status":
		_, err = r.App.Accounts.SetSubscriptionStatus(
			ctx, r.Owner, r.subscriptions.here[op.Subscription], op.Status, "")
	case "set member":
		status := member.Inactive
		if op.On {
			status = member.Active
		}
		r.EditMember(who, func(m *member.Member) { m.Status = status })
	case "alarm":
		_, _, err = r.App.Housekeeping.ExpireDue(ctx, r.Tenant)
	case "sweep":
		r.Sweep()
	case "opening":
		err = r.App.Waitlists.FillOpenings(ctx, r.Tenant)
	case "recheck":
		err = r.App.Waitlists.RecheckDue(ctx, r.Tenant)
	case "fill after an edit":
		err = r.App.Waitlists.FillAfterEdits(ctx, r.Tenant)
	default:
		r.T.Fatalf("there is no operation %q", op.Name)
	}
	return err
}

// scan checks a member in by the QR code of the session.
func (r *replay) scan(who tenant.Caller, id tenant.BookingID) (bookings.CheckInResult, error) {
	ctx := context.Background()
	b := expect.Value(r.App.Bookings.GetBooking(ctx, r.Owner, id))(r.T)
	if b.Status != booking.Confirmed && b.Status != booking.Attended {
		return r.CheckIn(r.Coach, id)
	}
	qr, err := r.App.Bookings.GetQRToken(ctx, r.Coach, b.Session)
	if err != nil {
		return bookings.CheckInResult{}, err
	}
	return r.SelfCheckIn(who, b.Session, bookings.CheckInProof{QR: qr.Text})
}

func (r *replay) memberOf(state State, id tenant.BookingID) tenant.MemberID {
	for _, s := range state.Sessions() {
		for _, b := range state.Bookings(s.ID) {
			if b.ID == id {
				return b.Member
			}
		}
	}
	return tenant.MemberID{}
}

func (r *replay) publish(state State, id tenant.SessionID) {
	all := state.Sessions()
	s := all[slices.IndexFunc(all, func(s session.Session) bool { return s.ID == id })]
	target := r.services[s.Service]
	r.sessions.add(id, r.CreateSession(session.Input{
		Service: target.Service, Location: target.Location, Title: s.Title, StartsAt: s.StartsAt, EndsAt: s.EndsAt,
		Capacity: s.Capacity, Unlimited: s.Capacity == nil, WaitlistCapacity: &s.WaitlistCapacity,
	}, true).ID)
}

// learn finds the ids of what an event created. The newest without a counterpart is the one.
func (r *replay) learn(ev Event) {
	who := r.people[ev.Member].Member
	switch ev.Kind {
	case Booked, Held:
		learn(r, &r.bookings, ev.Booking, `select id from bookings where tenant_id = $1 and session_id = $2 and member_id = $3
			order by created_at, id`, r.sessions.here[ev.Session], who)
	case Joined:
		learn(r, &r.entries, ev.Entry, `select id from waitlist_entries where tenant_id = $1 and member_id = $2
			order by created_at, id`, who)
	case Offered:
		learn(r, &r.offers, ev.Offer, `select id from waitlist_offers where tenant_id = $1 and entry_id = $2
			order by created_at, id`, r.entries.here[ev.Entry])
	case Decided:
		d := ev.decision
		r.decided[ev.Session.String()] = withDecision(r.decided[ev.Session.String()], *d)
	default:
	}
}

// withDecision adds a decision in the order of the text: those of the same moment have no other.
func withDecision(all []string, d waitlist.Record) []string {
	text := fmt.Sprintf("%s: %s by %s, gave %d of %s after %d, then %s: %s",
		d.Case.Trigger, d.Decision.Move, d.Decision.Mode, d.Decision.Given, pointer(d.Decision.Seats), d.Decision.Tried,
		d.Decision.LeftMove, d.Note)
	at, _ := slices.BinarySearch(all, text)
	return slices.Insert(all, at, text)
}

func learn[I ~struct{ tenant.UUID }](r *replay, known *ids[I], there I, sql string, args ...any) {
	rows := expect.Value(r.DB.Owner.Query(context.Background(), sql, append([]any{r.Tenant}, args...)...))(r.T)
	defer rows.Close()
	for rows.Next() {
		var id tenant.UUID
		r.NoError(rows.Scan(&id))
		if _, is := known.there[I{id}]; !is {
			known.add(there, I{id})
			return
		}
	}
	r.NoError(rows.Err())
}

// snapshot is what is compared: everything by the ids of the simulation.
type snapshot struct {
	Sessions      map[string]string
	Bookings      map[string]string
	Entries       map[string]string
	Offers        map[string]string
	Subscriptions map[string][]string
	Decisions     map[string][]string
}

func newSnapshot() snapshot {
	return snapshot{
		Sessions: make(map[string]string), Bookings: make(map[string]string), Entries: make(map[string]string),
		Offers: make(map[string]string), Subscriptions: make(map[string][]string), Decisions: make(map[string][]string),
	}
}

func (snap snapshot) addSession(id tenant.SessionID, s session.Session) {
	snap.Sessions[id.String()] = fmt.Sprintf("%s blocked %t, %d of %s taken, %d held, %d wait",
		s.State, s.Blocked, s.SeatsTaken, pointer(s.Capacity), s.Holds, s.Waiting)
}

func (snap snapshot) addBooking(
	id tenant.BookingID, in tenant.SessionID, paidBy tenant.SubscriptionID, b booking.Booking,
) {
	snap.Bookings[id.String()] = fmt.Sprintf(
		"%s in %s for %d, credits %d of %s, counted %t, exclusive %t, promoted %t until %s, late %t, held until %s, "+
			"payment %s",
		b.Status, in, b.Party, b.Credits, paidBy, b.Counted, b.Exclusive, b.Promoted, moment(b.GraceUntil), b.LateCancelled,
		moment(b.HoldUntil), b.Payment.Status)
}

func (snap snapshot) addEntry(id tenant.EntryID, e waitlist.Entry) {
	snap.Entries[id.String()] = fmt.Sprintf("%s with key %d, flagged %t, for %d after %d offers, passed over %q",
		e.Status, e.Key, e.Flagged, e.Party, e.Tries, e.PassedOver)
}

func (snap snapshot) addOffer(id tenant.OfferID, of tenant.EntryID, o waitlist.Offer) {
	snap.Offers[id.String()] = fmt.Sprintf("%s to %s of %d (shared %t) as number %d until %s, by hand %t, void %t, %s",
		o.Status, of, o.Seats, o.Shared, o.Try, moment(&o.ExpiresAt), o.ByHand, o.Void, o.Reason)
}

func (snap snapshot) addSubscription(id tenant.SubscriptionID, sub credit.Subscription, ledger []credit.Line) {
	lines := []string{fmt.Sprintf("%s, %d left, renewed %s", sub.Status, sub.Balance, moment(sub.PeriodEndsAt))}
	for _, l := range ledger {
		lines = append(lines, fmt.Sprintf("%d: %s %+d = %d", l.Number, l.Kind, l.Amount, l.Balance))
	}
	snap.Subscriptions[id.String()] = lines
}

func pointer(n *int) string {
	if n == nil {
		return "any"
	}
	return strconv.Itoa(*n)
}

func moment(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

func (r *replay) theirs(state State) snapshot {
	w := newSnapshot()
	for _, s := range state.Sessions() {
		w.addSession(s.ID, s)
		for _, b := range state.Bookings(s.ID) {
			w.addBooking(b.ID, b.Session, b.Subscription, b)
		}
		for _, o := range state.Offers(s.ID) {
			w.addOffer(o.ID, o.Entry, o)
		}
	}
	for _, e := range state.Entries() {
		w.addEntry(e.ID, e)
	}
	w.Decisions = r.decided
	for id := range r.people {
		for sub, ledger := range state.Subscriptions(id) {
			w.addSubscription(sub.ID, *sub, ledger)
		}
	}
	return w
}

func (r *replay) ours() snapshot {
	ctx, w := context.Background(), newSnapshot()
	for there, here := range r.sessions.here {
		w.addSession(there, r.GetSession(here))
		roster := expect.Value(r.App.Bookings.GetSessionRoster(ctx, r.Owner, here, booking.Statuses()...))(r.T)
		for _, b := range roster.Bookings {
			w.addBooking(r.bookings.there[b.ID], r.sessions.there[b.Session], r.subscriptions.there[b.Subscription], b)
		}
		for _, d := range r.Decisions(here) {
			w.Decisions[there.String()] = withDecision(w.Decisions[there.String()], d.Record)
		}
		for _, o := range r.Offers(here) {
			w.addOffer(r.offers.there[o.ID], r.entries.there[o.Entry], o)
		}
	}
	entries := expect.Value(r.App.Waitlists.ListWaitlistEntries(ctx, r.Owner, waitlists.EntryQuery{
		Statuses: []waitlist.Status{waitlist.Waiting, waitlist.Offered}, Limit: 1000,
	}))(r.T)
	for _, e := range entries {
		w.addEntry(r.entries.there[e.ID], e)
	}
	for there, here := range r.subscriptions.here {
		var sub credit.Subscription // as it is stored: use cases read it as of now
		r.NoError(r.DB.Owner.QueryRow(ctx, `select status, balance, period_ends_at from subscriptions
			where tenant_id = $1 and id = $2`, r.Tenant, here).Scan(&sub.Status, &sub.Balance, &sub.PeriodEndsAt))
		ledger := expect.Value(r.App.Accounts.ListCreditLines(ctx, r.Owner, here, accounts.LineQuery{Limit: 1000}))(r.T)
		slices.SortFunc(ledger, func(a, b accounts.CreditLine) int { return cmp.Compare(a.Number, b.Number) })
		var lines []credit.Line
		for _, l := range ledger {
			lines = append(lines, l.Line)
		}
		w.addSubscription(there, sub, lines)
	}
	return w
}

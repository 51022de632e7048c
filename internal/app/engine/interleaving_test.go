package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Members and staff change the same few sessions at the same time, at two nodes whose clocks differ. Every invariant
// holds during this and afterwards, and once all sessions are cancelled every seat is free and every credit is
// refunded. Time passes, too: holds and offers expire, and the first session starts.
func TestNodes_KeepInvariantsInAnyInterleaving(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := newMelee(t, seed)
			var all sync.WaitGroup
			for i := range 6 {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				all.Go(func() {
					for range 60 {
						m.act(random)
						m.pass(time.Duration(random.IntN(30)) * time.Second)
					}
				})
			}
			over := make(chan struct{})
			go func() {
				all.Wait()
				close(over)
			}()
			for done := false; !done; {
				select {
				case <-over:
					done = true
				default:
				}
				m.studio.WantSound()
			}
			m.end()
			t.Logf("what came about: %v", m.done)
		})
	}
}

// melee is a studio on two nodes, and what the test knows about its bookings and entries.
type melee struct {
	studio   *testkit.Studio
	nodes    []*app.Services
	people   []tenant.Caller
	sessions []tenant.SessionID

	subs []tenant.SubscriptionID

	mu      sync.Mutex
	places  []meleePlace
	waits   []meleePlace // entries, by their ids
	granted int
	done    map[string]int
}

type meleePlace struct {
	who tenant.Caller
	id  tenant.BookingID
}

func newMelee(t *testing.T, seed uint64) *melee {
	t.Helper()
	ctx := context.Background()
	studio := testkit.New(t)
	other := expect.Value(pg.Open(ctx, pg.Config{
		URL: studio.DB.URL, CommandConns: 4, ReadConns: 2, StatementTimeout: testkit.Timeout, LockTimeout: testkit.Timeout,
		IdleTimeout: testkit.Timeout,
	}))(t)
	t.Cleanup(other.Close)
	claims := expect.Value(waitlist.NewClaimKey([]byte("a secret that only the two nodes share")))(t)
	m := &melee{studio: studio, done: make(map[string]int)}
	for node, ahead := range map[*pg.DB]time.Duration{studio.DB.DB: 0, other: 5 * time.Minute} {
		m.nodes = append(
			m.nodes, app.New(app.Config{
				DB: node, Claims: claims, Now: func() time.Time { return studio.Clock.Now().Add(ahead) },
			}),
		)
	}
	mode := []waitlist.Mode{
		waitlist.AutoPromote, waitlist.OfferInTurn, waitlist.FirstToClaim, waitlist.OfferInTurn,
	}[seed%4]
	expect.OK(t)(studio.App.Settings.UpdateRules(
		ctx, studio.Owner, settings.RulesEdit{Edit: func(s *waitlist.Settings) { s.Enabled, s.Mode = new(true), &mode }},
	))
	pack := studio.AddPlan(credit.Plan{
		Kind: credit.Credits, Credits: testkit.LifeCredits, AllowOverlap: true, DailyLimit: new(4),
	})
	for i := range 6 {
		who := studio.AddMember(fmt.Sprint("Member ", i))
		m.subs = append(m.subs, studio.Subscribe(who, pack).ID)
		m.people = append(m.people, who)
	}
	m.sessions = append(
		m.sessions,
		studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(20 * time.Minute), Minutes: 30, Capacity: 2, Waitlist: 3}),
	)
	for i := range 3 {
		m.sessions = append(
			m.sessions,
			studio.AddSession(testkit.Session{
				Starts: testkit.Noon.Add(time.Duration(48+i) * time.Hour), Capacity: 1 + i, Waitlist: 3,
			}),
		)
	}
	return m
}

func (m *melee) act(random *rand.Rand) {
	ctx := context.Background()
	node := m.nodes[random.IntN(len(m.nodes))]
	who, class := m.people[random.IntN(len(m.people))], m.sessions[random.IntN(len(m.sessions))]
	m.mu.Lock()
	var place meleePlace
	if len(m.places) > 0 {
		place = m.places[random.IntN(len(m.places))]
	}
	wait := place
	if len(m.waits) > 0 {
		wait = m.waits[random.IntN(len(m.waits))]
	}
	m.mu.Unlock()
	var err error
	switch n := random.IntN(22); {
	case n < 5 || place.id.IsZero():
		var made seats.Place
		made, err = node.Bookings.Book(
			ctx, testkit.SelfOnly(who),
			bookings.BookRequest{Session: class, Party: 1 + random.IntN(2), Channel: catalog.Online, Hold: random.IntN(3) == 0},
		)
		m.did("book", err)
		m.learn(who, made)
	case n < 7:
		_, err = node.Bookings.CancelBooking(ctx, testkit.SelfOnly(place.who), bookings.CancelRequest{ID: place.id})
		m.did("cancel", err)
	case n == 7:
		_, err = node.Bookings.ConfirmBooking(ctx, testkit.SelfOnly(place.who), bookings.ConfirmRequest{ID: place.id})
		m.did("confirm", err)
	case n == 8:
		_, err = node.Bookings.ReleaseHold(ctx, testkit.SelfOnly(place.who), place.id)
		m.did("release", err)
	case n == 9:
		_, err = node.Bookings.RescheduleBooking(
			ctx, testkit.SelfOnly(place.who), bookings.RescheduleRequest{ID: place.id, To: class},
		)
		m.did("reschedule", err)
	case n < 12:
		err = m.answer(node, random, class)
	case n < 19:
		err = m.govern(node, random, class, place, wait)
	default:
		err = m.attend(node, random, place, wait)
	}
	f := testkit.FaultOf(err)
	test.False(m.studio.T, err != nil && (f == nil || f.Kind == fault.Internal), test.Sprint(err))
}

// did counts what has come about.
func (m *melee) did(what string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.done[what]++
	}
}

// pass lets time go on.
func (m *melee) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.studio.Clock.Set(m.studio.Clock.Now().Add(d))
}

// govern is what staff do, and what falls due.
func (m *melee) govern(
	node *app.Services, random *rand.Rand, class tenant.SessionID, place, wait meleePlace,
) (err error) {
	ctx := context.Background()
	entry := tenant.EntryID{UUID: wait.id.UUID}
	switch random.IntN(11) {
	case 0:
		_, err = node.Schedules.BlockSession(ctx, m.studio.Owner, class, "")
		m.did("block", err)
	case 1, 2:
		_, _, err = node.Schedules.UnblockSession(ctx, m.studio.Owner, class)
		m.did("unblock", err)
	case 3, 4:
		_, _, err = node.Schedules.UpdateSession(
			ctx, m.studio.Owner, class, nil, session.Input{Capacity: new(1 + random.IntN(4))}, session.CapacityField,
		)
		m.did("resize", err)
	case 5:
		amount := 2*random.IntN(3) - 1
		if _, _, err = node.Accounts.GrantCredits(
			ctx, m.studio.Owner, m.subs[random.IntN(len(m.subs))], amount, "goodwill",
		); err == nil {
			m.mu.Lock()
			m.granted += amount
			m.mu.Unlock()
		}
		m.did("grant", err)
	case 6:
		_, _, err = node.Accounts.RefundCredit(ctx, m.studio.Owner, place.id, "goodwill")
		m.did("refund", err)
	case 7:
		_, err = node.Waitlists.SetPriority(
			ctx, m.studio.Owner, entry, waitlists.PriorityEdit{Flagged: new(random.IntN(2) == 0)},
		)
		m.did("prioritize", err)
	case 8:
		_, err = node.Waitlists.OfferPlace(ctx, m.studio.Owner, waitlists.OfferRequest{Session: class, Entry: entry})
		m.did("offer by hand", err)
	case 9:
		holds, first := node.Waitlists.ExpireHolds(ctx, m.studio.Tenant)
		offers, _, second := node.Waitlists.ExpireDueOffers(ctx, m.studio.Tenant)
		if err = cmp.Or(first, second); holds > 0 {
			m.did("expire a hold", err)
		}
		if offers > 0 {
			m.did("expire an offer", err)
		}
	case 10:
		_, err = node.Housekeeping.SweepTenant(ctx, m.studio.Tenant)
		m.did("sweep", err)
	}
	return err
}

// attend is who comes, who does not, and who waits for what.
func (m *melee) attend(node *app.Services, random *rand.Rand, place, wait meleePlace) (err error) {
	ctx := context.Background()
	switch random.IntN(6) {
	case 0:
		_, err = node.Bookings.CheckIn(ctx, m.studio.Coach, place.id)
		m.did("check in", err)
	case 1:
		_, err = node.Bookings.UndoCheckIn(ctx, m.studio.Coach, place.id)
		m.did("undo check-in", err)
	case 2:
		_, err = node.Bookings.MarkNoShow(ctx, m.studio.Coach, place.id)
		m.did("no-show", err)
	case 3:
		_, err = node.Bookings.UndoNoShow(ctx, m.studio.Coach, place.id)
		m.did("undo no-show", err)
	case 4:
		_, err = node.Waitlists.LeaveWaitlist(ctx, testkit.SelfOnly(wait.who), tenant.EntryID{UUID: wait.id.UUID}, "", false)
		m.did("leave", err)
	case 5:
		var made seats.Place
		at := 1 + random.IntN(len(m.sessions)-1)
		made, err = node.Waitlists.JoinWaitlist(
			ctx, testkit.SelfOnly(place.who),
			waitlists.JoinRequest{Sessions: m.sessions[at:], Party: 1, Channel: catalog.Online},
		)
		m.did("join", err)
		m.learn(place.who, made)
	}
	return err
}

func (m *melee) learn(who tenant.Caller, made seats.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case made.Booking != nil:
		m.places = append(m.places, meleePlace{who, made.Booking.ID})
	case made.Entry != nil:
		wait := meleePlace{who, tenant.BookingID{UUID: made.Entry.ID.UUID}}
		m.places, m.waits = append(m.places, wait), append(m.waits, wait)
	}
}

// answer accepts or declines the first offer that there is.
func (m *melee) answer(node *app.Services, random *rand.Rand, class tenant.SessionID) error {
	ctx := context.Background()
	roster, err := node.Bookings.ListRoster(ctx, m.studio.Coach, class, false)
	at := slices.IndexFunc(roster.Entries, func(e waitlist.Entry) bool { return e.Offer != nil })
	if err != nil || at < 0 {
		return err
	}
	e := roster.Entries[at]
	who := m.people[slices.IndexFunc(m.people, func(c tenant.Caller) bool { return c.Member == e.Member })]
	switch random.IntN(6) {
	case 0:
		_, err = node.Waitlists.ExpireOffer(ctx, m.studio.Owner, e.Offer.ID, "")
		m.did("expire an offer by hand", err)
		return err
	case 1, 2:
		_, err = node.Waitlists.DeclineOffer(ctx, testkit.SelfOnly(who), e.Offer.ID, random.IntN(2) == 0, "")
		m.did("decline", err)
		return err
	}
	answered, err := node.Waitlists.AcceptOffer(ctx, testkit.SelfOnly(who), e.Offer.ID, tenant.SubscriptionID{})
	m.did("accept", err)
	m.learn(who, seats.Place{Booking: answered.Booking})
	return err
}

// end calls every session off, and counts what is left.
func (m *melee) end() {
	for _, id := range m.sessions {
		expect.OK(m.studio.T)(m.studio.App.Schedules.CancelSession(context.Background(), m.studio.Owner, id, "", false))
	}
	m.studio.WantSound()
	for what, sql := range map[string]string{
		"seats": `select coalesce(sum(seats_taken + holds + waiting), 0) from sessions where tenant_id = $1`,
		"places": fmt.Sprintf(
			`select count(*) from bookings where tenant_id = $1 and status in ('%s', '%s')`, booking.Pending, booking.Confirmed,
		),
		// Those of bookings that could not be cancelled any more stay with them.
		"missing credits": fmt.Sprintf(`select %d - (select sum(balance) from subscriptions where tenant_id = $1)
			- (select coalesce(sum(credits), 0) from bookings where tenant_id = $1)`, testkit.LifeCredits*len(m.subs)+m.granted),
	} {
		test.EqOp(m.studio.T, 0, m.studio.Count(sql, m.studio.Tenant), test.Sprintf("%s", what))
	}
}

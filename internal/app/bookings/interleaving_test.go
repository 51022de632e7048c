package bookings_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
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
	granted atomic.Int64
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
	expect.OK(t)(studio.App.Settings.UpdateWaitlistRules(
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
	for _, class := range []testkit.Session{
		{Starts: testkit.Noon.Add(20 * time.Minute), Minutes: 30, Capacity: 2, Waitlist: 3},
		{Starts: testkit.Noon.Add(48 * time.Hour), Capacity: 1, Waitlist: 3},
		{Starts: testkit.Noon.Add(49 * time.Hour), Capacity: 2, Waitlist: 3},
		{Starts: testkit.Noon.Add(50 * time.Hour), Capacity: 3, Waitlist: 3},
	} {
		m.sessions = append(m.sessions, studio.AddSession(class))
	}
	return m
}

// pick is what an act is about, by chance.
type pick struct {
	*rand.Rand

	node        *app.Services
	who         tenant.Caller
	class       tenant.SessionID
	place, wait meleePlace
}

func (p *pick) entry() tenant.EntryID { return tenant.EntryID{UUID: p.wait.id.UUID} }

var inMelee = context.Background()

// deeds are what members and staff do, and what falls due. Times say how often, in comparison. The first is the most
// frequent, and the only one before there is any place.
var deeds = []struct {
	name  string
	times int
	do    func(m *melee, p *pick) error
}{
	{"book", 15, func(m *melee, p *pick) error {
		return m.learn(p.who)(p.node.Bookings.Book(inMelee, testkit.SelfOnly(p.who), bookings.BookRequest{
			Session: p.class, Party: 1 + p.IntN(2), Channel: catalog.Online, Hold: p.IntN(3) == 0,
		}))
	}},
	{"cancel", 6, func(_ *melee, p *pick) error {
		return expect.Error(p.node.Bookings.CancelBooking(inMelee, testkit.SelfOnly(p.place.who), bookings.CancelRequest{
			ID: p.place.id,
		}))
	}},
	{"confirm", 3, func(_ *melee, p *pick) error {
		return expect.Error(p.node.Bookings.ConfirmBooking(inMelee, testkit.SelfOnly(p.place.who), bookings.ConfirmRequest{
			ID: p.place.id,
		}))
	}},
	{"release", 3, func(_ *melee, p *pick) error {
		return expect.Error(p.node.Bookings.ReleaseHold(inMelee, testkit.SelfOnly(p.place.who), p.place.id))
	}},
	{"reschedule", 3, func(_ *melee, p *pick) error {
		request := bookings.RescheduleRequest{ID: p.place.id, To: p.class}
		return expect.Error(p.node.Bookings.RescheduleBooking(inMelee, testkit.SelfOnly(p.place.who), request))
	}},
	{"accept", 3, answerOffer(func(m *melee, p *pick, who tenant.Caller, id tenant.OfferID) error {
		answered, err := p.node.Waitlists.AcceptWaitlistOffer(inMelee, who, id, tenant.SubscriptionID{})
		return m.learn(who)(seats.Result{Booking: answered.Booking}, err)
	})},
	{"decline", 2, answerOffer(func(_ *melee, p *pick, who tenant.Caller, id tenant.OfferID) error {
		return expect.Error(p.node.Waitlists.DeclineWaitlistOffer(inMelee, who, id, p.IntN(2) == 0, ""))
	})},
	{"expire an offer by hand", 1, answerOffer(func(m *melee, p *pick, _ tenant.Caller, id tenant.OfferID) error {
		return expect.Error(p.node.Waitlists.ExpireWaitlistOffer(inMelee, m.studio.Owner, id, ""))
	})},
	{"block", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Schedules.BlockSession(inMelee, m.studio.Owner, p.class, ""))
	}},
	{"unblock", 4, func(m *melee, p *pick) error {
		return expect.Error(p.node.Schedules.UnblockSession(inMelee, m.studio.Owner, p.class))
	}},
	{"resize", 4, func(m *melee, p *pick) error {
		return expect.Error(p.node.Schedules.UpdateSession(
			inMelee, m.studio.Owner, p.class, nil, session.Input{Capacity: new(1 + p.IntN(4))}, session.CapacityField,
		))
	}},
	{"grant", 2, func(m *melee, p *pick) error {
		amount := 2*p.IntN(3) - 1
		_, _, err := p.node.Accounts.GrantCredits(inMelee, m.studio.Owner, m.subs[p.IntN(len(m.subs))], amount, "goodwill")
		if err == nil {
			m.granted.Add(int64(amount))
		}
		return err
	}},
	{"refund", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Accounts.RefundCredit(inMelee, m.studio.Owner, p.place.id, "goodwill"))
	}},
	{"prioritize", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Waitlists.SetWaitlistPriority(inMelee, m.studio.Owner, p.entry(), waitlists.PriorityEdit{
			Flagged: new(p.IntN(2) == 0),
		}))
	}},
	{"offer by hand", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Waitlists.CreateWaitlistOffer(inMelee, m.studio.Owner, waitlists.OfferRequest{
			Session: p.class, Entry: p.entry(),
		}))
	}},
	{"expire holds", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Waitlists.ExpireHolds(inMelee, m.studio.Tenant))
	}},
	{"expire offers", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Waitlists.ExpireDueOffers(inMelee, m.studio.Tenant))
	}},
	{"sweep", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Housekeeping.SweepTenant(inMelee, m.studio.Tenant))
	}},
	{"check in", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Bookings.CheckIn(inMelee, m.studio.Coach, p.place.id))
	}},
	{"undo check-in", 1, func(m *melee, p *pick) error {
		return expect.Error(p.node.Bookings.UndoCheckIn(inMelee, m.studio.Coach, p.place.id))
	}},
	{"no-show", 2, func(m *melee, p *pick) error {
		return expect.Error(p.node.Bookings.MarkNoShow(inMelee, m.studio.Coach, p.place.id))
	}},
	{"undo no-show", 1, func(m *melee, p *pick) error {
		return expect.Error(p.node.Bookings.UndoNoShow(inMelee, m.studio.Coach, p.place.id))
	}},
	{"leave", 1, func(_ *melee, p *pick) error {
		return expect.Error(p.node.Waitlists.LeaveWaitlist(inMelee, testkit.SelfOnly(p.wait.who), p.entry(), "", false))
	}},
	{"join", 2, func(m *melee, p *pick) error {
		who := p.place.who
		return m.learn(who)(p.node.Waitlists.JoinWaitlist(inMelee, testkit.SelfOnly(who), waitlists.JoinRequest{
			Sessions: m.sessions[1+p.IntN(len(m.sessions)-1):], Party: 1, Channel: catalog.Online,
		}))
	}},
}

// answerOffer does something about the first offer that there is.
func answerOffer(
	do func(*melee, *pick, tenant.Caller, tenant.OfferID) error,
) func(*melee, *pick) error {
	return func(m *melee, p *pick) error {
		roster, err := p.node.Bookings.GetSessionRoster(inMelee, m.studio.Coach, p.class)
		at := slices.IndexFunc(roster.Entries, func(e waitlist.Entry) bool { return e.Offer != nil })
		if err != nil || at < 0 {
			return err
		}
		e := roster.Entries[at]
		who := m.people[slices.IndexFunc(m.people, func(c tenant.Caller) bool { return c.Member == e.Member })]
		return do(m, p, testkit.SelfOnly(who), e.Offer.ID)
	}
}

// act does something by chance. It may be refused, but not because of a bug.
func (m *melee) act(random *rand.Rand) {
	p := pick{
		Rand: random, node: m.nodes[random.IntN(len(m.nodes))], who: m.people[random.IntN(len(m.people))],
		class: m.sessions[random.IntN(len(m.sessions))],
	}
	m.mu.Lock()
	places, waits := m.places, m.waits
	m.mu.Unlock()
	deed := deeds[0]
	if len(places) > 0 {
		for chosen := false; !chosen; chosen = random.IntN(deeds[0].times) < deed.times {
			deed = deeds[random.IntN(len(deeds))]
		}
		p.place, p.wait = places[random.IntN(len(places))], places[0]
	}
	if len(waits) > 0 {
		p.wait = waits[random.IntN(len(waits))]
	}
	err := deed.do(m, &p)
	f := testkit.FaultOf(err)
	test.False(m.studio.T, err != nil && (f == nil || f.Kind == fault.Internal), test.Sprint(deed.name, err))
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.done[deed.name]++
	}
}

// pass lets time go on.
func (m *melee) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.studio.Clock.Set(m.studio.Clock.Now().Add(d))
}

// learn remembers a place that a call gave, if it did not fail.
func (m *melee) learn(who tenant.Caller) func(seats.Result, error) error {
	return func(made seats.Result, err error) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		switch {
		case made.Booking != nil:
			m.places = append(m.places, meleePlace{who, made.Booking.ID})
		case made.Entry != nil:
			wait := meleePlace{who, tenant.BookingID{UUID: made.Entry.ID.UUID}}
			m.places, m.waits = append(m.places, wait), append(m.waits, wait)
		}
		return err
	}
}

// end calls every session off, and counts what is left.
func (m *melee) end() {
	for _, id := range m.sessions {
		expect.OK(m.studio.T)(m.studio.App.Schedules.CancelSession(
			context.Background(), m.studio.Owner, id, schedules.Removal{IncludeEnded: true},
		))
	}
	m.studio.WantSound()
	for what, sql := range map[string]string{
		// Attendance stays.
		"seats": `select coalesce(sum(seats_taken + holds + waiting), 0)
			- (select coalesce(sum(party_size), 0) from bookings where tenant_id = $1 and status = 'ATTENDED')
			from sessions where tenant_id = $1`,
		"places": fmt.Sprintf(
			`select count(*) from bookings where tenant_id = $1 and status in ('%s', '%s')`, booking.Pending, booking.Confirmed,
		),
		// Those of bookings that could not be cancelled any more stay with them.
		"missing credits": fmt.Sprintf(`select %d - (select sum(balance) from subscriptions where tenant_id = $1)
			- (select coalesce(sum(credits), 0) from bookings where tenant_id = $1)`,
			int64(testkit.LifeCredits*len(m.subs))+m.granted.Load()),
	} {
		test.EqOp(m.studio.T, 0, m.studio.Count(sql, m.studio.Tenant), test.Sprintf("%s", what))
	}
}

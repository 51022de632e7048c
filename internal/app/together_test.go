package app_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

// gathering lets requests queue up behind one that cannot go on, so that they are settled together.
type gathering struct {
	*house
	app   *app.App // with a single lane
	calls []func()
	done  sync.WaitGroup
}

func (h *house) gather() *gathering {
	h.t.Helper()
	g := &gathering{house: h, app: app.New(app.Config{DB: h.db.DB, Now: h.clock.Now, Lanes: 1})}
	h.t.Cleanup(g.app.Drain)
	return g
}

// ask adds a request. They queue up in the order in which they were added.
func (g *gathering) ask(call func()) { g.calls = append(g.calls, call) }

// book adds a booking of one seat.
func (g *gathering) book(who tenant.Caller, in tenant.SessionID, more ...func(*app.BookRequest)) *booked {
	b := new(booked)
	r := app.BookRequest{Session: in, Party: 1, Channel: catalog.Online}
	for _, f := range more {
		f(&r)
	}
	g.ask(func() { b.Place, b.err = g.app.Book(context.Background(), who, r) })
	return b
}

// booked is what came of a booking.
type booked struct {
	app.Place
	err error
}

// settle settles them all, and reports in how many transactions.
func (g *gathering) settle() (transactions int) {
	g.t.Helper()
	ctx := context.Background()
	decoy, member := g.session(slot{}), g.member("Decoy")
	block, err := g.db.Owner.Begin(ctx)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = block.Rollback(ctx) }()
	if _, err := block.Exec(ctx, `select from sessions where id = $1 for update`, decoy); err != nil {
		g.t.Fatal(err)
	}
	g.done.Go(func() {
		_, err := g.app.Book(ctx, member, app.BookRequest{Session: decoy, Party: 1, Channel: catalog.Online})
		if err != nil {
			g.t.Errorf("decoy: %v", err)
		}
	})
	g.app.AwaitWaiting(g.Tenant, 0)
	for i, call := range g.calls {
		g.done.Go(call)
		g.app.AwaitWaiting(g.Tenant, i+1)
	}
	g.calls = nil
	before := g.count(`select coalesce(max(xid::text::bigint), 0) from events where tenant_id = $1`, g.Tenant)
	if err := block.Commit(ctx); err != nil {
		g.t.Fatal(err)
	}
	g.done.Wait()
	return g.count(`select count(distinct xid::text) from events where tenant_id = $1 and xid::text::bigint > $2`, g.Tenant, before) - 1
}

func (b *booked) confirmed(t *testing.T, what string) {
	t.Helper()
	if b.err != nil || b.Booking == nil {
		t.Errorf("%s: %+v, %v", what, b.Entry, b.err)
	}
}

func (b *booked) refused(t *testing.T, what string, reason fault.Reason) {
	t.Helper()
	if fault.ReasonOf(b.err) != reason {
		t.Errorf("%s: %v, want %s", what, b.err, reason)
	}
}

// What is asked for at the same moment is settled in one transaction, and each is told what they would have been told alone.
func TestSettledTogether(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	open, small := h.session(slot{}), h.session(slot{Capacity: 2, Waitlist: 1})
	noWaitlist := h.session(slot{Capacity: 1})
	draft := h.session(slot{State: catalog.Draft})
	pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 1})
	daily := h.plan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), AllowOverlap: true})
	mia, noa := h.member("Mia"), h.member("Noa")
	mias := h.subscribe(mia, pack)
	h.subscribe(noa, daily)
	spent, limited := h.member("Spent"), h.member("Limited")
	h.subscribe(spent, pack)
	h.mustBook(spent, h.session(slot{Starts: noon.Add(99 * time.Hour)}))
	h.subscribe(limited, daily)
	h.mustBook(limited, h.session(slot{}))

	ok := []*booked{g.book(mia, open), g.book(noa, open), g.book(h.member("Ann"), small), g.book(h.member("Bea"), small), g.book(h.member("Cyd"), noWaitlist)}
	waits := g.book(h.member("Dan"), small)
	full := g.book(h.member("Eve"), small)
	none := g.book(h.member("Fay"), noWaitlist)
	closed := g.book(h.member("Gil"), draft)
	absent := g.book(h.member("Hal"), newID[tenant.SessionID]())
	noCredit := g.book(spent, open)
	twice := g.book(limited, h.session(slot{}))
	stranger := g.book(h.Owner, open, func(r *app.BookRequest) { r.Member = newID[tenant.MemberID]() })
	forOthers := g.book(h.Owner, open, func(r *app.BookRequest) { r.Member, r.Channel = h.member("Ida").Member, catalog.Phone })
	if n := g.settle(); n != 2 {
		t.Errorf("%d transactions, want 2: one for whoever joins the queue, and one for all others", n)
	}
	for _, b := range append(ok, forOthers) {
		b.confirmed(t, "booked")
	}
	if waits.err != nil || waits.Entry == nil || waits.Entry.Position != 1 {
		t.Errorf("waits: %+v, %v", waits.Place, waits.err)
	}
	full.refused(t, "full", fault.SessionFull)
	none.refused(t, "no waitlist", fault.SessionFull)
	closed.refused(t, "draft", fault.SessionNotOpen)
	absent.refused(t, "absent", fault.SessionNotFound)
	noCredit.refused(t, "no credit", fault.NoCredits)
	twice.refused(t, "daily limit", fault.DailyLimit)
	stranger.refused(t, "no member", fault.MemberNotFound)
	if h.balance(mias) != 0 {
		t.Errorf("balance %d, want 0", h.balance(mias))
	}
	h.wantSound()
}

// The last places go to those who came first, and so does the queue.
func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 3, Waitlist: 3})
	var all []*booked
	for range 8 {
		all = append(all, g.book(h.member("One of many"), in))
	}
	g.settle()
	var got []string
	for _, b := range all {
		switch {
		case b.Booking != nil:
			got = append(got, "booked")
		case b.Entry != nil:
			got = append(got, string(rune('0'+b.Entry.Position)))
		default:
			got = append(got, string(fault.ReasonOf(b.err)))
		}
	}
	want := []string{"booked", "booked", "booked", "1", "2", "3", "SESSION_FULL", "SESSION_FULL"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.wantSound()
}

// Who has a place already does not join the queue, even if the session fills up with those who came just before.
func TestNobodyWaitsForASecondPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 2, Waitlist: 5})
	mia := h.member("Mia")
	h.mustBook(mia, in)
	last := g.book(h.member("Noa"), in)
	again := g.book(mia, in)
	waits := g.book(h.member("Zoe"), in)
	g.settle()
	last.confirmed(t, "last")
	again.refused(t, "again", fault.AlreadyBooked)
	if waits.Entry == nil || waits.Entry.Position != 1 {
		t.Errorf("%+v, %v", waits.Place, waits.err)
	}
	h.wantSound()
}

// What only a constraint finds out fails for one, who is told why, and for nobody else.
func TestWhatFailsForOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{})
	mia, noa := h.member("Mia"), h.member("Noa")
	has := h.mustBook(mia, in)
	h.subscribe(noa, h.plan(credit.Plan{Kind: credit.Unlimited}))
	h.mustBook(noa, h.session(slot{}))

	before := g.book(h.member("Ann"), in)
	again := g.book(mia, in)
	overlaps := g.book(noa, in)
	after := g.book(h.member("Bea"), in)
	if n := g.settle(); n != 1 {
		t.Errorf("%d transactions, want 1: those who may were not settled together", n)
	}
	before.confirmed(t, "before")
	after.confirmed(t, "after")
	overlaps.refused(t, "overlaps", fault.Overlap)
	again.refused(t, "again", fault.AlreadyBooked)
	if got := meta(t, again.err, "booking_id"); got != has.String() {
		t.Errorf("booking_id %s, want %s", got, has)
	}

	// Nothing in the rules knows of this one.
	h.exec(`alter table bookings add constraint no_apples check (note <> 'bad apple')`)
	before = g.book(h.member("Cyd"), in)
	bad := g.book(h.member("Dan"), in, func(r *app.BookRequest) { r.Note = "bad apple" })
	after = g.book(h.member("Eve"), in)
	g.settle()
	before.confirmed(t, "before the apple")
	after.confirmed(t, "after the apple")
	if !pg.IsCheck(bad.err, "no_apples") {
		t.Errorf("bad apple: %v", bad.err)
	}
	h.wantSound()
}

// A seat that is given up goes to who asks for it next, in the same transaction; and a hold's life goes on in it, too.
func TestSeatsChangeHandsInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	full, tees, moved := h.session(slot{Capacity: 1}), h.session(slot{Capacity: 3}), h.session(slot{Starts: noon.Add(60 * time.Hour), Capacity: 1})
	mia, noa, zoe, eve := h.member("Mia"), h.member("Noa"), h.member("Zoe"), h.member("Eve")
	mias := h.mustBook(mia, full)
	paid, dropped := h.mustHold(noa, tees), h.mustHold(zoe, tees)
	eves := h.mustBook(eve, tees)

	tooEarly := g.book(h.member("Too early"), full)
	ctx := context.Background()
	var cancelled, moving, released, confirmed error
	g.ask(func() { _, cancelled = g.app.CancelBooking(ctx, own(mia), app.CancelRequest{ID: mias}) })
	next := g.book(h.member("Next"), full)
	g.ask(func() {
		_, moving = g.app.RescheduleBooking(ctx, own(eve), app.RescheduleRequest{ID: eves, To: moved})
	})
	g.ask(func() { _, released = g.app.ReleaseHold(ctx, own(zoe), dropped.ID) })
	g.ask(func() { _, confirmed = g.app.ConfirmBooking(ctx, own(noa), app.ConfirmRequest{ID: paid.ID}) })
	one, two := g.book(h.member("One"), tees), g.book(h.member("Two"), tees)
	noRoom, there := g.book(h.member("No room"), tees), g.book(h.member("There"), moved)
	if n := g.settle(); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
	if err := errors.Join(cancelled, moving, released, confirmed); err != nil {
		t.Error(err)
	}
	tooEarly.refused(t, "before it was free", fault.SessionFull)
	next.confirmed(t, "after it was free")
	one.confirmed(t, "the first seat that was left")
	two.confirmed(t, "the second seat that was left")
	noRoom.refused(t, "a third seat", fault.SessionFull)
	there.refused(t, "where somebody moved to", fault.SessionFull)
	if got := h.status(paid.ID); got != string(booking.Confirmed) {
		t.Errorf("confirmed hold is %s", got)
	}
	h.wantSound()
}

// Where somebody waits for the seat, the waitlist has it before whoever asks later.
func TestASeatThatIsWaitedForInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 1, Waitlist: 3})
	mia, noa := h.member("Mia"), h.member("Noa")
	mias := h.mustBook(mia, in)
	h.mustWait(noa, in)
	beside := g.book(h.member("Beside"), h.session(slot{}))
	var up app.GivenUp
	var err error
	g.ask(func() { up, err = g.app.CancelBooking(context.Background(), own(mia), app.CancelRequest{ID: mias}) })
	later := g.book(h.member("Later"), in)
	g.settle()
	beside.confirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.err)
	}
	h.wantSound()
}

// So it has where somebody would take any session of the day, of whom the session itself knows nothing.
func TestASeatThatAWindowWaitsForInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	starts := noon.Add(75 * time.Hour)
	in := h.session(slot{Starts: starts, Capacity: 1, Waitlist: 3})
	mia, noa := h.member("Mia"), h.member("Noa")
	mias := h.mustBook(mia, in)
	latest, err := civil.ParseTimeOfDay("23:00")
	if err != nil {
		t.Fatal(err)
	}
	day := civil.DateOf(starts, time.UTC)
	wish := app.JoinRequest{Party: 1, Channel: catalog.Online, Window: &waitlist.Window{
		Service: h.Service, Location: h.Location, From: day, Until: day, Latest: latest,
	}}
	if _, err := h.app.JoinWaitlist(context.Background(), noa, wish); err != nil {
		t.Fatal(err)
	}
	if n := h.count(`select waiting from sessions where id = $1`, in); n != 0 {
		t.Fatalf("%d wait for the session by name", n)
	}
	beside := g.book(h.member("Beside"), h.session(slot{}))
	var up app.GivenUp
	g.ask(func() { up, err = g.app.CancelBooking(context.Background(), own(mia), app.CancelRequest{ID: mias}) })
	later := g.book(h.member("Later"), in)
	if n := g.settle(); n != 3 {
		t.Errorf("%d transactions, want 3: beside, the seat, and later", n)
	}
	beside.confirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.err != nil || later.Entry == nil {
		t.Errorf("later: %+v, %v", later.Place, later.err)
	}
	h.wantSound()
}

// Leaving a queue in a batch, by oneself: whoever asks next finds the place in it free.
func TestAPlaceInTheQueueChangesHandsInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 1, Waitlist: 1})
	h.mustBook(h.member("Mia"), in)
	noa := h.member("Noa")
	entry := h.mustWait(noa, in)
	beside, tooEarly := g.book(h.member("Beside"), h.session(slot{})), g.book(h.member("Too early"), in)
	var err error
	g.ask(func() {
		_, err = g.app.CancelBooking(context.Background(), own(noa), app.CancelRequest{ID: tenant.BookingID(entry)})
	})
	later := g.book(h.member("Later"), in)
	g.settle()
	beside.confirmed(t, "beside")
	tooEarly.refused(t, "too early", fault.SessionFull)
	if err != nil {
		t.Error(err)
	}
	if later.err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.err)
	}
	h.wantSound()
}

// Holds that have run out give their seats to the batch that finds them.
func TestAHoldThatHasRunOutInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 1})
	lapsed := h.mustHold(h.member("Mia"), in)
	h.clock.Set(*lapsed.HoldUntil)
	first, second, beside := g.book(h.member("Noa"), in), g.book(h.member("Zoe"), in), g.book(h.member("Eve"), h.session(slot{}))
	g.settle()
	first.confirmed(t, "first")
	beside.confirmed(t, "beside")
	second.refused(t, "second", fault.SessionFull)
	h.wantSound()
}

// Keys and references make things happen once in a batch, too; what is refused uses no key up.
func TestKeysInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in, full := h.session(slot{}), h.session(slot{Capacity: 1})
	holder := h.member("Holder")
	seat := h.mustBook(holder, full)
	mia, noa, ref := h.member("Mia"), h.member("Noa"), h.member("Ref")
	book := func(who tenant.Caller, text, content string, in tenant.SessionID) (*booked, *app.Key) {
		ctx, key := under(t, text, "Book", content)
		b := new(booked)
		g.ask(func() {
			b.Place, b.err = g.app.Book(ctx, who, app.BookRequest{Session: in, Party: 1, Channel: catalog.Online})
		})
		return b, key
	}
	first, firstKey := book(mia, "k", "one", in)
	again, againKey := book(mia, "k", "one", in)
	other, _ := book(mia, "k", "another", in)
	refused, _ := book(noa, "k", "one", full)
	withRef := func(r *app.BookRequest) { r.ExternalRef = "REF-1" }
	one, two := g.book(ref, in, withRef), g.book(ref, in, withRef)
	conflict := g.book(h.member("Someone else"), in, withRef)
	g.settle()
	first.confirmed(t, "first")
	again.confirmed(t, "again")
	if firstKey.Repeated || !againKey.Repeated || first.Booking == nil || again.Booking == nil || first.Booking.ID != again.Booking.ID {
		t.Errorf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Place, again.Place)
	}
	other.refused(t, "another request", fault.IdempotencyConflict)
	refused.refused(t, "full", fault.SessionFull)
	one.confirmed(t, "reference")
	if two.err != nil || !two.Repeated || two.Booking.ID != one.Booking.ID {
		t.Errorf("the same reference: %+v, %v", two.Place, two.err)
	}
	conflict.refused(t, "reference of another", fault.ExternalRefConflict)

	if _, err := h.cancel(holder, seat); err != nil {
		t.Fatal(err)
	}
	retried, retriedKey := book(noa, "k", "one", full)
	beside := g.book(h.member("Beside"), in)
	g.settle()
	retried.confirmed(t, "the key that was refused")
	beside.confirmed(t, "beside")
	if retriedKey.Repeated {
		t.Error("the key was used up by a refusal")
	}
	h.wantSound()
}

// A batch that another transaction gets in the way of is settled again, as a whole.
func TestABatchIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 2})
	ctx := context.Background()
	rival, err := h.db.Owner.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rival.Rollback(ctx) }()
	if _, err := rival.Exec(ctx, `update sessions set capacity = 3 where id = $1`, in); err != nil {
		t.Fatal(err)
	}
	var all []*booked
	for range 4 {
		all = append(all, g.book(h.member("One of many"), in))
	}
	released := make(chan error, 1)
	go func() {
		released <- func() error {
			for blocked := 0; blocked == 0; { // by the rival, which came before
				err := h.db.Owner.QueryRow(ctx, `select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`,
					rival.Conn().PgConn().PID()).Scan(&blocked)
				if err != nil {
					return err
				}
			}
			return rival.Commit(ctx)
		}()
	}()
	g.settle()
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	for i, b := range all[:3] {
		b.confirmed(t, string(rune('0'+i)))
	}
	all[3].refused(t, "the fourth", fault.SessionFull)
	h.wantSound()
}

// A change of policy, plan or location holds for the next booking, on a node that has not heard of it.
func TestAChangeHoldsForTheNextBooking(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	elsewhere := app.New(app.Config{DB: h.db.DB, Now: h.clock.Now})
	waitlists := func(on bool) {
		t.Helper()
		edit := app.RulesEdit{Target: app.PolicyTarget{Service: h.Service}, Edit: func(s *waitlist.Settings) { s.Enabled = &on }}
		if _, err := elsewhere.UpdateRules(ctx, h.Owner, edit); err != nil {
			t.Fatal(err)
		}
	}
	waitlists(false)
	in := h.session(slot{Capacity: 100})
	limited := h.plan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	mia := h.member("Mia")
	h.subscribe(mia, limited)
	h.mustBook(mia, in)
	book := func() error {
		_, err := h.book(h.member("Noa"), in)
		return err
	}
	if err := book(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name   string
		change func(on bool) error
		reason fault.Reason
	}{
		{"a policy", func(on bool) error {
			_, err := elsewhere.UpdatePolicy(ctx, h.Owner, app.PolicyTarget{Service: h.Service}, nil, func(p *catalog.Policy) {
				p.BookingCloses = new(time.Duration(0))
				if on {
					p.BookingCloses = new(72 * time.Hour)
				}
			})
			return err
		}, fault.SessionNotOpen},
		{"a location's channels", func(on bool) error {
			_, err := elsewhere.UpdateLocation(ctx, h.Owner, h.Location, nil, func(l *catalog.Location) {
				l.Channels = catalog.Channels()
				if on {
					l.Channels = []catalog.Channel{catalog.Phone}
				}
			})
			return err
		}, fault.ChannelClosed},
		{"a service's parties", func(on bool) error {
			_, err := elsewhere.UpdateService(ctx, h.Owner, h.Service, nil, func(s *catalog.Service) {
				s.MinParty = 1
				if on {
					s.MinParty = 2
				}
			})
			return err
		}, fault.PartySize},
		{"a tenant that takes payments", func(on bool) error {
			_, err := elsewhere.UpdateTenant(ctx, h.Owner, nil, func(t *catalog.Tenant) {
				t.TakesPayments = on
			})
			return err
		}, fault.NoActivePlan},
	} {
		if err := step.change(true); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := book(); fault.ReasonOf(err) != step.reason {
			t.Errorf("after %s: %v, want %s", step.name, err, step.reason)
		}
		if err := step.change(false); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := book(); err != nil {
			t.Errorf("after %s was taken back: %v", step.name, err)
		}
	}
	full := h.session(slot{Capacity: 1, Waitlist: 1})
	h.mustBook(h.member("Ann"), full)
	_, err := h.book(h.member("Bea"), full)
	wantReason(t, err, fault.SessionFull)
	waitlists(true)
	h.mustWait(h.member("Cyd"), full)
	if _, err := elsewhere.UpdatePlan(ctx, h.Owner, limited.ID, nil, func(p *credit.Plan) error {
		p.DailyLimit = new(1)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, err = h.book(mia, h.session(slot{}))
	wantReason(t, err, fault.DailyLimit)
	h.wantSound()
}

// Several nodes want the last seats of one database. The lanes of one know nothing of the other's.
func TestTheLastSeatsOfTwoNodes(t *testing.T) {
	t.Parallel()
	const seats, queue, people = 7, 5, 60
	h := newHouse(t)
	nodes := []*app.App{h.app, app.New(app.Config{DB: h.db.DB, Now: h.clock.Now})}
	in := h.session(slot{Capacity: seats, Waitlist: queue})
	crowd := make([]tenant.Caller, people)
	for i := range crowd {
		crowd[i] = h.member("One of many")
	}
	var mu sync.Mutex
	var done sync.WaitGroup
	got := make(map[string]int)
	for i, who := range crowd {
		done.Go(func() {
			place, err := nodes[i%len(nodes)].Book(context.Background(), who, app.BookRequest{Session: in, Party: 1, Channel: catalog.Online})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				got[string(fault.ReasonOf(err))]++
			case place.Booking != nil:
				got["booked"]++
			default:
				got["waits"]++
			}
		})
	}
	done.Wait()
	want := map[string]int{"booked": seats, "waits": queue, "SESSION_FULL": people - seats - queue}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.wantSound()
}

// Once a node has stopped nothing new begins.
func TestDrained(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in := h.session(slot{})
	h.app.Drain()
	_, err := h.book(h.member("Mia"), in)
	wantReason(t, err, fault.Contention)
}

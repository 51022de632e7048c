package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

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

// Keys and references make things happen once in a batch, too; what is refused uses no key up.
func TestKeysInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in, full := h.session(slot{}), h.session(slot{Capacity: 1})
	holder := h.member("Holder")
	seat := h.mustBook(holder, full)
	mia, noa, ref := h.member("Mia"), h.member("Noa"), h.member("Ref")
	book := func(who tenant.Caller, text, content string, in tenant.SessionID) (*booked, *engine.IdempotencyKey) {
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

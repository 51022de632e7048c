package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// What is asked for at the same moment is settled in one transaction, and each is told what they would have been told alone.
func TestSettledTogether(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	open, small := h.Session(testkit.Slot{}), h.Session(testkit.Slot{Capacity: 2, Waitlist: 1})
	noWaitlist := h.Session(testkit.Slot{Capacity: 1})
	draft := h.Session(testkit.Slot{State: catalog.Draft})
	pack := h.Plan(credit.Plan{Kind: credit.Credits, Credits: 1})
	daily := h.Plan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), AllowOverlap: true})
	mia, noa := h.Member("Mia"), h.Member("Noa")
	mias := h.Subscribe(mia, pack)
	h.Subscribe(noa, daily)
	spent, limited := h.Member("Spent"), h.Member("Limited")
	h.Subscribe(spent, pack)
	h.MustBook(spent, h.Session(testkit.Slot{Starts: testkit.Noon.Add(99 * time.Hour)}))
	h.Subscribe(limited, daily)
	h.MustBook(limited, h.Session(testkit.Slot{}))

	ok := []*testkit.Booked{g.Book(mia, open), g.Book(noa, open), g.Book(h.Member("Ann"), small), g.Book(h.Member("Bea"), small), g.Book(h.Member("Cyd"), noWaitlist)}
	waits := g.Book(h.Member("Dan"), small)
	full := g.Book(h.Member("Eve"), small)
	none := g.Book(h.Member("Fay"), noWaitlist)
	closed := g.Book(h.Member("Gil"), draft)
	absent := g.Book(h.Member("Hal"), testkit.NewID[tenant.SessionID]())
	noCredit := g.Book(spent, open)
	twice := g.Book(limited, h.Session(testkit.Slot{}))
	stranger := g.Book(h.Owner, open, func(r *bookings.BookRequest) { r.Member = testkit.NewID[tenant.MemberID]() })
	forOthers := g.Book(h.Owner, open, func(r *bookings.BookRequest) { r.Member, r.Channel = h.Member("Ida").Member, catalog.Phone })
	if n := g.Settle(); n != 2 {
		t.Errorf("%d transactions, want 2: one for whoever joins the queue, and one for all others", n)
	}
	for _, b := range append(ok, forOthers) {
		b.Confirmed(t, "booked")
	}
	if waits.Err != nil || waits.Entry == nil || waits.Entry.Position != 1 {
		t.Errorf("waits: %+v, %v", waits.Place, waits.Err)
	}
	full.Refused(t, "full", fault.SessionFull)
	none.Refused(t, "no waitlist", fault.SessionFull)
	closed.Refused(t, "draft", fault.SessionNotOpen)
	absent.Refused(t, "absent", fault.SessionNotFound)
	noCredit.Refused(t, "no credit", fault.NoCredits)
	twice.Refused(t, "daily limit", fault.DailyLimit)
	stranger.Refused(t, "no member", fault.MemberNotFound)
	if h.Balance(mias) != 0 {
		t.Errorf("balance %d, want 0", h.Balance(mias))
	}
	h.WantSound()
}

// The last places go to those who came first, and so does the queue.
func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in := h.Session(testkit.Slot{Capacity: 3, Waitlist: 3})
	var all []*testkit.Booked
	for range 8 {
		all = append(all, g.Book(h.Member("One of many"), in))
	}
	g.Settle()
	var got []string
	for _, b := range all {
		switch {
		case b.Booking != nil:
			got = append(got, "booked")
		case b.Entry != nil:
			got = append(got, string(rune('0'+b.Entry.Position)))
		default:
			got = append(got, string(fault.ReasonOf(b.Err)))
		}
	}
	want := []string{"booked", "booked", "booked", "1", "2", "3", "SESSION_FULL", "SESSION_FULL"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.WantSound()
}

// Who has a place already does not join the queue, even if the session fills up with those who came just before.
func TestNobodyWaitsForASecondPlace(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in := h.Session(testkit.Slot{Capacity: 2, Waitlist: 5})
	mia := h.Member("Mia")
	h.MustBook(mia, in)
	last := g.Book(h.Member("Noa"), in)
	again := g.Book(mia, in)
	waits := g.Book(h.Member("Zoe"), in)
	g.Settle()
	last.Confirmed(t, "last")
	again.Refused(t, "again", fault.AlreadyBooked)
	if waits.Entry == nil || waits.Entry.Position != 1 {
		t.Errorf("%+v, %v", waits.Place, waits.Err)
	}
	h.WantSound()
}

// What only a constraint finds out fails for one, who is told why, and for nobody else.
func TestWhatFailsForOne(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in := h.Session(testkit.Slot{})
	mia, noa := h.Member("Mia"), h.Member("Noa")
	has := h.MustBook(mia, in)
	h.Subscribe(noa, h.Plan(credit.Plan{Kind: credit.Unlimited}))
	h.MustBook(noa, h.Session(testkit.Slot{}))

	before := g.Book(h.Member("Ann"), in)
	again := g.Book(mia, in)
	overlaps := g.Book(noa, in)
	after := g.Book(h.Member("Bea"), in)
	if n := g.Settle(); n != 1 {
		t.Errorf("%d transactions, want 1: those who may were not settled together", n)
	}
	before.Confirmed(t, "before")
	after.Confirmed(t, "after")
	overlaps.Refused(t, "overlaps", fault.Overlap)
	again.Refused(t, "again", fault.AlreadyBooked)
	if got := testkit.Meta(t, again.Err, "booking_id"); got != has.String() {
		t.Errorf("booking_id %s, want %s", got, has)
	}

	// Nothing in the rules knows of this one.
	h.Exec(`alter table bookings add constraint no_apples check (note <> 'bad apple')`)
	before = g.Book(h.Member("Cyd"), in)
	bad := g.Book(h.Member("Dan"), in, func(r *bookings.BookRequest) { r.Note = "bad apple" })
	after = g.Book(h.Member("Eve"), in)
	g.Settle()
	before.Confirmed(t, "before the apple")
	after.Confirmed(t, "after the apple")
	if !pg.IsCheck(bad.Err, "no_apples") {
		t.Errorf("bad apple: %v", bad.Err)
	}
	h.WantSound()
}

// Keys and references make things happen once in a batch, too; what is refused uses no key up.
func TestKeysInABatch(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in, full := h.Session(testkit.Slot{}), h.Session(testkit.Slot{Capacity: 1})
	holder := h.Member("Holder")
	seat := h.MustBook(holder, full)
	mia, noa, ref := h.Member("Mia"), h.Member("Noa"), h.Member("Ref")
	book := func(who tenant.Caller, text, content string, in tenant.SessionID) (*testkit.Booked, *engine.IdempotencyKey) {
		ctx, key := testkit.Under(t, text, "Book", content)
		b := new(testkit.Booked)
		g.Ask(func() {
			b.Place, b.Err = g.App.Bookings.Book(ctx, who, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online})
		})
		return b, key
	}
	first, firstKey := book(mia, "k", "one", in)
	again, againKey := book(mia, "k", "one", in)
	other, _ := book(mia, "k", "another", in)
	refused, _ := book(noa, "k", "one", full)
	withRef := func(r *bookings.BookRequest) { r.ExternalRef = "REF-1" }
	one, two := g.Book(ref, in, withRef), g.Book(ref, in, withRef)
	conflict := g.Book(h.Member("Someone else"), in, withRef)
	g.Settle()
	first.Confirmed(t, "first")
	again.Confirmed(t, "again")
	if firstKey.Repeated || !againKey.Repeated || first.Booking == nil || again.Booking == nil || first.Booking.ID != again.Booking.ID {
		t.Errorf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Place, again.Place)
	}
	other.Refused(t, "another request", fault.IdempotencyConflict)
	refused.Refused(t, "full", fault.SessionFull)
	one.Confirmed(t, "reference")
	if two.Err != nil || !two.Repeated || two.Booking.ID != one.Booking.ID {
		t.Errorf("the same reference: %+v, %v", two.Place, two.Err)
	}
	conflict.Refused(t, "reference of another", fault.ExternalRefConflict)

	if _, err := h.Cancel(holder, seat); err != nil {
		t.Fatal(err)
	}
	retried, retriedKey := book(noa, "k", "one", full)
	beside := g.Book(h.Member("Beside"), in)
	g.Settle()
	retried.Confirmed(t, "the key that was refused")
	beside.Confirmed(t, "beside")
	if retriedKey.Repeated {
		t.Error("the key was used up by a refusal")
	}
	h.WantSound()
}

// A batch that another transaction gets in the way of is settled again, as a whole.
func TestABatchIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in := h.Session(testkit.Slot{Capacity: 2})
	ctx := context.Background()
	rival, err := h.DB.Owner.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rival.Rollback(ctx) }()
	if _, err := rival.Exec(ctx, `update sessions set capacity = 3 where id = $1`, in); err != nil {
		t.Fatal(err)
	}
	var all []*testkit.Booked
	for range 4 {
		all = append(all, g.Book(h.Member("One of many"), in))
	}
	released := make(chan error, 1)
	go func() {
		released <- func() error {
			for blocked := 0; blocked == 0; { // by the rival, which came before
				err := h.DB.Owner.QueryRow(ctx, `select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`,
					rival.Conn().PgConn().PID()).Scan(&blocked)
				if err != nil {
					return err
				}
			}
			return rival.Commit(ctx)
		}()
	}()
	g.Settle()
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	for i, b := range all[:3] {
		b.Confirmed(t, string(rune('0'+i)))
	}
	all[3].Refused(t, "the fourth", fault.SessionFull)
	h.WantSound()
}

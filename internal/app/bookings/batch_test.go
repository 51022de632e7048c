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

// What is asked for at the same moment is settled in one transaction, and each is told what they would have been told
// alone.
func TestBatch_EqualsRunningInOrder(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	open, small := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{Capacity: 2, Waitlist: 1})
	noWaitlist := h.AddSession(testkit.Session{Capacity: 1})
	draft := h.AddSession(testkit.Session{State: catalog.Draft})
	pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1})
	daily := h.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), AllowOverlap: true})
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	mias := h.Subscribe(mia, pack)
	h.Subscribe(noa, daily)
	spent, limited := h.AddMember("Spent"), h.AddMember("Limited")
	h.Subscribe(spent, pack)
	h.MustBook(spent, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(99 * time.Hour)}))
	h.Subscribe(limited, daily)
	h.MustBook(limited, h.AddSession(testkit.Session{}))

	ok := []*testkit.Booked{
		g.Book(mia, open), g.Book(noa, open), g.Book(h.AddMember("Ann"), small), g.Book(h.AddMember("Bea"), small),
		g.Book(h.AddMember("Cyd"), noWaitlist),
	}
	waits := g.Book(h.AddMember("Dan"), small)
	full := g.Book(h.AddMember("Eve"), small)
	none := g.Book(h.AddMember("Fay"), noWaitlist)
	closed := g.Book(h.AddMember("Gil"), draft)
	absent := g.Book(h.AddMember("Hal"), testkit.NewID[tenant.SessionID]())
	noCredit := g.Book(spent, open)
	twice := g.Book(limited, h.AddSession(testkit.Session{}))
	stranger := g.Book(h.Owner, open, func(r *bookings.BookRequest) { r.Member = testkit.NewID[tenant.MemberID]() })
	forOthers := g.Book(
		h.Owner, open, func(r *bookings.BookRequest) { r.Member, r.Channel = h.AddMember("Ida").Member, catalog.Phone },
	)
	if n := g.Run(); n != 2 {
		t.Errorf("%d transactions, want 2: one for whoever joins the queue, and one for all others", n)
	}
	for _, b := range append(ok, forOthers) {
		b.WantConfirmed(t, "booked")
	}
	if waits.Err != nil || waits.Entry == nil || waits.Entry.Position != 1 {
		t.Errorf("waits: %+v, %v", waits.Place, waits.Err)
	}
	full.WantRefused(t, "full", fault.SessionFull)
	none.WantRefused(t, "no waitlist", fault.SessionFull)
	closed.WantRefused(t, "draft", fault.SessionNotOpen)
	absent.WantRefused(t, "absent", fault.SessionNotFound)
	noCredit.WantRefused(t, "no credit", fault.NoCredits)
	twice.WantRefused(t, "daily limit", fault.DailyLimit)
	stranger.WantRefused(t, "no member", fault.MemberNotFound)
	if h.Balance(mias) != 0 {
		t.Errorf("balance %d, want 0", h.Balance(mias))
	}
	h.WantSound()
}

// The last places go to those who came first, and so does the queue.
func TestBatch_KeepsArrivalOrder(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in := h.AddSession(testkit.Session{Capacity: 3, Waitlist: 3})
	var all []*testkit.Booked
	for range 8 {
		all = append(all, g.Book(h.AddMember("One of many"), in))
	}
	g.Run()
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
func TestBatch_BookedMemberDoesNotJoin(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in := h.AddSession(testkit.Session{Capacity: 2, Waitlist: 5})
	mia := h.AddMember("Mia")
	h.MustBook(mia, in)
	last := g.Book(h.AddMember("Noa"), in)
	again := g.Book(mia, in)
	waits := g.Book(h.AddMember("Zoe"), in)
	g.Run()
	last.WantConfirmed(t, "last")
	again.WantRefused(t, "again", fault.AlreadyBooked)
	if waits.Entry == nil || waits.Entry.Position != 1 {
		t.Errorf("%+v, %v", waits.Place, waits.Err)
	}
	h.WantSound()
}

// What only a constraint finds out fails for one, who is told why, and for nobody else.
func TestBatch_FailureHarmsOneOnly(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in := h.AddSession(testkit.Session{})
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	has := h.MustBook(mia, in)
	h.Subscribe(noa, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	h.MustBook(noa, h.AddSession(testkit.Session{}))

	before := g.Book(h.AddMember("Ann"), in)
	again := g.Book(mia, in)
	overlaps := g.Book(noa, in)
	after := g.Book(h.AddMember("Bea"), in)
	if n := g.Run(); n != 1 {
		t.Errorf("%d transactions, want 1: those who may were not settled together", n)
	}
	before.WantConfirmed(t, "before")
	after.WantConfirmed(t, "after")
	overlaps.WantRefused(t, "overlaps", fault.Overlap)
	again.WantRefused(t, "again", fault.AlreadyBooked)
	if got := testkit.Meta(t, again.Err, "booking_id"); got != has.String() {
		t.Errorf("booking_id %s, want %s", got, has)
	}

	// Nothing in the rules knows of this one.
	h.Exec(`alter table bookings add constraint no_apples check (note <> 'bad apple')`)
	before = g.Book(h.AddMember("Cyd"), in)
	bad := g.Book(h.AddMember("Dan"), in, func(r *bookings.BookRequest) { r.Note = "bad apple" })
	after = g.Book(h.AddMember("Eve"), in)
	g.Run()
	before.WantConfirmed(t, "before the apple")
	after.WantConfirmed(t, "after the apple")
	if !pg.IsCheck(bad.Err, "no_apples") {
		t.Errorf("bad apple: %v", bad.Err)
	}
	h.WantSound()
}

// Keys and references make things happen once in a batch, too; what is refused uses no key up.
func TestBatch_IdempotencyKeys(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in, full := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{Capacity: 1})
	holder := h.AddMember("Holder")
	seat := h.MustBook(holder, full)
	mia, noa, ref := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Ref")
	book := func(who tenant.Caller, text, content string, in tenant.SessionID) (*testkit.Booked, *engine.IdempotencyKey) {
		ctx, key := testkit.WithKey(t, text, "Book", content)
		b := new(testkit.Booked)
		g.Add(func() {
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
	conflict := g.Book(h.AddMember("Someone else"), in, withRef)
	g.Run()
	first.WantConfirmed(t, "first")
	again.WantConfirmed(t, "again")
	if firstKey.Repeated || !againKey.Repeated || first.Booking == nil || again.Booking == nil ||
		first.Booking.ID != again.Booking.ID {
		t.Errorf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Place, again.Place)
	}
	other.WantRefused(t, "another request", fault.IdempotencyConflict)
	refused.WantRefused(t, "full", fault.SessionFull)
	one.WantConfirmed(t, "reference")
	if two.Err != nil || !two.Repeated || two.Booking.ID != one.Booking.ID {
		t.Errorf("the same reference: %+v, %v", two.Place, two.Err)
	}
	conflict.WantRefused(t, "reference of another", fault.ExternalRefConflict)

	if _, err := h.Cancel(holder, seat); err != nil {
		t.Fatal(err)
	}
	retried, retriedKey := book(noa, "k", "one", full)
	beside := g.Book(h.AddMember("Beside"), in)
	g.Run()
	retried.WantConfirmed(t, "the key that was refused")
	beside.WantConfirmed(t, "beside")
	if retriedKey.Repeated {
		t.Error("the key was used up by a refusal")
	}
	h.WantSound()
}

// A batch that another transaction gets in the way of is settled again, as a whole.
func TestBatch_IsRetried(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in := h.AddSession(testkit.Session{Capacity: 2})
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
		all = append(all, g.Book(h.AddMember("One of many"), in))
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
	g.Run()
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	for i, b := range all[:3] {
		b.WantConfirmed(t, string(rune('0'+i)))
	}
	all[3].WantRefused(t, "the fourth", fault.SessionFull)
	h.WantSound()
}

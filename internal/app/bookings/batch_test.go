package bookings_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// What is asked for at the same moment is settled in one transaction, and each is told what they would have been told
// alone.
func TestBatch_EqualsRunningInOrder(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g := studio.NewBatch()
	open, small := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 1})
	refuseFull := studio.AddSession(testkit.Session{Capacity: 1})
	draft := studio.AddSession(testkit.Session{State: catalog.Draft})
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1})
	daily := studio.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), AllowOverlap: true})
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	mias := studio.Subscribe(mia, pack)
	studio.Subscribe(noa, daily)
	spent, limited := studio.AddMember("Spent"), studio.AddMember("Limited")
	studio.Subscribe(spent, pack)
	studio.MustBook(spent, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(99 * time.Hour)}))
	studio.Subscribe(limited, daily)
	studio.MustBook(limited, studio.AddSession(testkit.Session{}))

	ok := []*testkit.Booked{
		g.Book(mia, open), g.Book(noa, open), g.Book(studio.AddMember("Ann"), small), g.Book(studio.AddMember("Bea"), small),
		g.Book(studio.AddMember("Cyd"), refuseFull),
	}
	waits, full := g.Book(studio.AddMember("Dan"), small), g.Book(studio.AddMember("Eve"), small)
	none, closed := g.Book(studio.AddMember("Fay"), refuseFull), g.Book(studio.AddMember("Gil"), draft)
	absent := g.Book(studio.AddMember("Hal"), testkit.NewID[tenant.SessionID]())
	noCredit, twice := g.Book(spent, open), g.Book(limited, studio.AddSession(testkit.Session{}))
	stranger := g.Book(studio.Owner, open, func(r *bookings.BookRequest) { r.Member = testkit.NewID[tenant.MemberID]() })
	forOthers := g.Book(
		studio.Owner, open, func(
			r *bookings.BookRequest,
		) {
			r.Member, r.Channel = studio.AddMember("Ida").Member, catalog.Phone
		},
	)
	test.EqOp(t, 2, g.Run(),
		test.Sprint("transactions, want 2: one for the member who joins the queue, and one for all others"))
	for _, b := range append(ok, forOthers) {
		b.WantConfirmed(t, "booked")
	}
	must.NoError(t, waits.Err, must.Sprintf("waits: %+v, %v", waits.Result, waits.Err))
	must.NotNil(t, waits.Entry, must.Sprintf("waits: %+v, %v", waits.Result, waits.Err))
	test.EqOp(t, 1, waits.Entry.Position, test.Sprintf("waits: %+v, %v", waits.Result, waits.Err))
	full.WantRefused(t, "full", fault.SessionFull)
	none.WantRefused(t, "no waitlist", fault.SessionFull)
	closed.WantRefused(t, "draft", fault.SessionNotOpen)
	absent.WantRefused(t, "absent", fault.SessionNotFound)
	noCredit.WantRefused(t, "no credit", fault.NoCredits)
	twice.WantRefused(t, "daily limit", fault.DailyLimit)
	stranger.WantRefused(t, "no member", fault.MemberNotFound)
	test.EqOp(t, 0, studio.Balance(mias))
}

// The last places go to those who came first, and so does the queue.
func TestBatch_KeepsArrivalOrder(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g, in := studio.NewBatch(), studio.AddSession(testkit.Session{Capacity: 3, Waitlist: 3})
	var all []*testkit.Booked
	for range 8 {
		all = append(all, g.Book(studio.AddMember("One of many"), in))
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
	test.Eq(t, []string{"booked", "booked", "booked", "1", "2", "3", "SESSION_FULL", "SESSION_FULL"}, got)
}

// Who has a place already does not join the queue, even if the session fills up with those who came just before.
func TestBatch_BookedMemberDoesNotJoin(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g, in := studio.NewBatch(), studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 5})
	mia := studio.AddMember("Mia")
	studio.MustBook(mia, in)
	last, again := g.Book(studio.AddMember("Noa"), in), g.Book(mia, in)
	waits := g.Book(studio.AddMember("Zoe"), in)
	g.Run()
	last.WantConfirmed(t, "last")
	again.WantRefused(t, "again", fault.AlreadyBooked)
	must.NotNil(t, waits.Entry, must.Sprintf("%+v, %v", waits.Result, waits.Err))
	test.EqOp(t, 1, waits.Entry.Position, test.Sprintf("%+v, %v", waits.Result, waits.Err))
}

// A violation that only a constraint finds fails one operation, with its reason, and no other.
func TestBatch_FailureHarmsOneOnly(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g, in := studio.NewBatch(), studio.AddSession(testkit.Session{})
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	has := studio.MustBook(mia, in)
	studio.Subscribe(noa, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	studio.MustBook(noa, studio.AddSession(testkit.Session{}))

	before, again, overlaps := g.Book(studio.AddMember("Ann"), in), g.Book(mia, in), g.Book(noa, in)
	after := g.Book(studio.AddMember("Bea"), in)
	test.EqOp(t, 1, g.Run(), test.Sprint("transactions, want 1: those who may were not settled together"))
	before.WantConfirmed(t, "before")
	after.WantConfirmed(t, "after")
	overlaps.WantRefused(t, "overlaps", fault.Overlap)
	again.WantRefused(t, "again", fault.AlreadyBooked)
	test.EqOp(t, has.String(), testkit.Meta(t, again.Err, "booking_id"), test.Sprintf("booking_id want %s", has))

	// Nothing in the rules knows of this one.
	studio.Exec(`alter table bookings add constraint no_apples check (note <> 'bad apple')`)
	before = g.Book(studio.AddMember("Cyd"), in)
	bad := g.Book(studio.AddMember("Dan"), in, func(r *bookings.BookRequest) { r.Note = "bad apple" })
	after = g.Book(studio.AddMember("Eve"), in)
	g.Run()
	before.WantConfirmed(t, "before the apple")
	after.WantConfirmed(t, "after the apple")
	test.True(t, pg.IsCheck(bad.Err, "no_apples"), test.Sprintf("bad apple: %v", bad.Err))
	studio.WantSound()
}

// Keys and references make things happen once in a batch, too; what is refused uses no key up.
func TestBatch_IdempotencyKeys(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g := studio.NewBatch()
	in, full := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{Capacity: 1})
	holder := studio.AddMember("Holder")
	seat := studio.MustBook(holder, full)
	mia, noa, ref := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Ref")
	book := func(who tenant.Caller, text, content string, in tenant.SessionID) (*testkit.Booked, *idempotency.Key) {
		ctx, key := testkit.WithKey(t, text, "Book", content)
		b := new(testkit.Booked)
		g.Add(func() {
			b.Result, b.Err = g.App.Bookings.Book(ctx, who, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online})
		})
		return b, key
	}
	first, firstKey := book(mia, "k", "one", in)
	again, againKey := book(mia, "k", "one", in)
	other, _ := book(mia, "k", "another", in)
	refused, _ := book(noa, "k", "one", full)
	withRef := func(r *bookings.BookRequest) { r.ExternalRef = "REF-1" }
	one, two := g.Book(ref, in, withRef), g.Book(ref, in, withRef)
	conflict := g.Book(studio.AddMember("Someone else"), in, withRef)
	g.Run()
	first.WantConfirmed(t, "first")
	again.WantConfirmed(t, "again")
	test.False(t, firstKey.Repeated,
		test.Sprintf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Result, again.Result))
	test.True(t, againKey.Repeated,
		test.Sprintf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Result, again.Result))
	must.NotNil(t, first.Booking,
		must.Sprintf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Result, again.Result))
	must.NotNil(t, again.Booking,
		must.Sprintf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Result, again.Result))
	test.EqOp(t, again.Booking.ID, first.Booking.ID,
		test.Sprintf("repeated %v and %v: %+v, %+v", firstKey.Repeated, againKey.Repeated, first.Result, again.Result))
	other.WantRefused(t, "another request", fault.IdempotencyConflict)
	refused.WantRefused(t, "full", fault.SessionFull)
	one.WantConfirmed(t, "reference")
	must.NoError(t, two.Err, must.Sprintf("the same reference: %+v, %v", two.Result, two.Err))
	test.True(t, two.Repeated, test.Sprintf("the same reference: %+v, %v", two.Result, two.Err))
	test.EqOp(t, one.Booking.ID, two.Booking.ID, test.Sprintf("the same reference: %+v, %v", two.Result, two.Err))
	conflict.WantRefused(t, "reference of another", fault.ExternalRefConflict)

	expect.OK(t)(studio.Cancel(holder, seat))
	retried, retriedKey := book(noa, "k", "one", full)
	separate := g.Book(studio.AddMember("Separate"), in)
	g.Run()
	retried.WantConfirmed(t, "the key that was refused")
	separate.WantConfirmed(t, "separate")
	test.False(t, retriedKey.Repeated, test.Sprint("the key was used up by a refusal"))
}

// A batch that another transaction gets in the way of is settled again, as a whole.
func TestBatch_IsRetried(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g, in := studio.NewBatch(), studio.AddSession(testkit.Session{Capacity: 2})
	rival := expect.Value(studio.DB.Owner.Begin(t.Context()))(t)
	defer func() { _ = rival.Rollback(t.Context()) }()
	expect.OK(t)(rival.Exec(t.Context(), `update sessions set capacity = 3 where id = $1`, in))
	var all []*testkit.Booked
	for range 4 {
		all = append(all, g.Book(studio.AddMember("One of many"), in))
	}
	released := make(chan error, 1)
	go func() {
		released <- func() error {
			for blocked := 0; blocked == 0; { // by the rival, which came before
				err := studio.DB.Owner.QueryRow(
					t.Context(), `select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`,
					rival.Conn().PgConn().PID(),
				).Scan(&blocked)
				if err != nil {
					return err
				}
			}
			return rival.Commit(t.Context())
		}()
	}()
	g.Run()
	must.NoError(t, <-released)
	for i, b := range all[:3] {
		b.WantConfirmed(t, string(rune('0'+i)))
	}
	all[3].WantRefused(t, "the fourth", fault.SessionFull)
}

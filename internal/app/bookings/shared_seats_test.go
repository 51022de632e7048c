package bookings_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// What is looked up about one booking locks that booking, its session, its member and its subscription against change,
// and none of their neighbours, though the database has just been made and the planner knows nothing of the tables'
// sizes.
func TestLookup_LocksNoNeighboringRows(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5})
	type made struct {
		who      tenant.Caller
		session  tenant.SessionID
		booking  tenant.BookingID
		contract tenant.SubscriptionID
	}
	var all []made
	for i := range 12 {
		m := made{
			who:     studio.AddMember(fmt.Sprint("Member ", i)),
			session: studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Duration(48+i) * time.Hour)}),
		}
		m.contract = studio.Subscribe(m.who, pack).ID
		m.booking = studio.MustBook(m.who, m.session)
		all = append(all, m)
	}
	one := all[5]
	key := bookingdb.SessionMember{Session: one.session, Member: one.who.Member}
	for name, find := range map[string]func(*pg.Batch){
		"the booking": func(batch *pg.Batch) {
			bookingdb.FindBooking(batch, studio.Tenant, one.booking, new(*booking.Booking))
		},
		"its session": func(batch *pg.Batch) {
			bookingdb.FindSlotOf(batch, studio.Tenant, one.booking, new(*booking.Slot))
		},
		"its subscription": func(batch *pg.Batch) {
			bookingdb.FindBookingSubscription(batch, studio.Tenant, one.booking, new(*credit.Subscription))
		},
		"a session": func(batch *pg.Batch) {
			bookingdb.FindSlot(batch, studio.Tenant, one.session, new(*booking.Slot))
		},
		"a member": func(batch *pg.Batch) {
			bookingdb.FindBookingMember(batch, studio.Tenant, one.who.Member, new(*booking.Member))
		},
		"a member's place": func(batch *pg.Batch) {
			bookingdb.FindActiveIDs(batch, studio.Tenant, key, func(bookingdb.ActiveIDs) {})
		},
		"a member's contracts": func(batch *pg.Batch) {
			bookingdb.ListPayers(batch, studio.Tenant, key, tenant.SubscriptionID{}, new([]credit.Subscription))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var locks []string
			done := errors.New("no more is wanted")
			err := studio.DB.InTx(t.Context(), pg.Scope{Tenant: studio.Tenant}, "look",
				func(ctx context.Context, tx *pg.Tx) error {
					var batch pg.Batch
					find(&batch)
					if err := tx.Load(ctx, &batch); err != nil {
						return err
					}
					// A lock on a page of a table covers all of its rows. One on a page of an index conflicts with writes to that
					// page, and bookings of a session make none: they change neither its start nor its id.
					var seen pg.Batch
					pg.Collect(seen.Queue(`
select c.relname || ' ' || l.locktype from pg_locks l join pg_class c on c.oid = l.relation
where l.mode = 'SIReadLock' and `+testkit.OfThisTransaction+`
  and c.relname ~ '^(bookings|sessions|members|subscriptions)'
  and not (l.locktype = 'tuple' or l.locktype = 'page' and c.relname in (
    'bookings_pkey', 'sessions_pkey', 'members_pkey', 'subscriptions_pkey',
    'bookings_active', 'subscriptions_member', 'sessions_start'))`), &locks, pgx.RowTo[string])
					if err := tx.Load(ctx, &seen); err != nil {
						return err
					}
					return done
				})
			must.ErrorIs(t, err, done)
			slices.Sort(locks)
			test.True(t, len(locks) == 0, test.Sprintf("it locks %v", slices.Compact(locks)))
		})
	}
}

// Eight people who book and cancel the same five classes at the same time are never sent away because of each other.
func TestBook_MixedLoadIsNotRefused(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	pack := studio.AddPlan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	const people, rounds = 8, 6
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = studio.AddMember(fmt.Sprint("Member ", i))
		studio.Subscribe(members[i], pack)
	}
	classes := make([]tenant.SessionID, 5)
	for i := range classes {
		classes[i] = studio.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(time.Duration(48+i) * time.Hour), Capacity: 4,
		})
	}
	var booked atomic.Int64
	testkit.Parallel(people, func(i int) {
		for n := range rounds {
			result, err := studio.Book(members[i], classes[(i*3+n)%len(classes)])
			if fault.ReasonOf(err) == fault.SessionFull {
				continue
			}
			if err == nil {
				booked.Add(1)
				_, err = studio.Cancel(members[i], result.Booking.ID)
			}
			test.NoError(t, err)
		}
	})
	test.True(t, booked.Load() >= people*rounds/2, test.Sprintf("only %d were booked", booked.Load()))
	test.EqOp(t, 0, studio.Count(`select sum(seats_taken) from sessions where tenant_id = $1`, studio.Tenant),
		test.Sprint("seats are taken in the end"))
}

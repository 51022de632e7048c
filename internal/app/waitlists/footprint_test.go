package waitlists_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// What a freed seat looks at locks whom it looks at against change, and no whole table, though the database has just
// been made and the planner knows nothing of the tables' sizes.
func TestFill_LocksNoTables(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	// of an empty index, all is locked
	studio.Subscribe(studio.AddMember("Kim"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	class, _, _ := studio.AddFullSession(2)
	other, who, booked := studio.AddFullSession(12, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
	queueUp(studio, 40, class)
	studio.AddWaiters(12, testkit.ForSessions(other))
	for i := range who {
		studio.MustCancel(who[i], booked[i])
	}
	var (
		first  []waitlist.Entry
		live   []waitlist.Offer
		layers []waitlist.Layer
		wait   waitlist.Slot
		size   int
		entry  *waitlist.Entry
		busy   []civil.Span
		key    = bookingdb.SessionMember{Session: class, Member: studio.Owner.Member}
		queue  = waitlist.Queue{Location: studio.Location, Service: studio.Service, Date: civiltest.Date("2026-03-18")}
	)
	one := expect.Value(tenant.Parse[tenant.EntryID](
		studio.Text(`select id::text from waitlist_entries where tenant_id = $1 order by join_key limit 1`, studio.Tenant),
	))(t)
	done := errors.New("no more is wanted")
	for name, find := range map[string]func(*pg.Batch){
		"the head of the line": func(b *pg.Batch) {
			waitlistdb.ListQueued(b, studio.Tenant, waitlistdb.QueueQuery{Session: class, Queue: queue, Limit: 10}, &first)
		},
		"its length":  func(b *pg.Batch) { waitlistdb.FindQueueSize(b, studio.Tenant, class, &size) },
		"the session": func(b *pg.Batch) { waitlistdb.FindWaitSlot(b, studio.Tenant, class, &wait) },
		"live offers": func(b *pg.Batch) { waitlistdb.ListLiveOffers(b, studio.Tenant, []tenant.SessionID{class}, &live) },
		"the rules":   func(b *pg.Batch) { waitlistdb.ListRules(b, studio.Tenant, studio.Location, studio.Service, &layers) },
		"an entry":    func(b *pg.Batch) { waitlistdb.FindEntry(b, studio.Tenant, one, &entry) },
		"who is in it": func(b *pg.Batch) {
			bookingdb.FindActiveIDs(b, studio.Tenant, key, func(bookingdb.ActiveIDs) {})
		},
		"who is busy": func(b *pg.Batch) { bookingdb.ListBusy(b, studio.Tenant, key, &busy) },
	} {
		var locks []string
		err := studio.DB.InTx(t.Context(), pg.Scope{Tenant: studio.Tenant}, "look",
			func(ctx context.Context, tx *pg.Tx) error {
				var batch pg.Batch
				find(&batch)
				if err := tx.Load(ctx, &batch); err != nil {
					return err
				}
				var seen pg.Batch
				pg.Collect(seen.Queue(`
select c.relname || ' ' || l.locktype || ' ' || count(*) from pg_locks l join pg_class c on c.oid = l.relation
where l.mode = 'SIReadLock' and `+testkit.OfThisTransaction+`
group by c.relname, c.relkind, l.locktype having l.locktype = 'relation' or l.locktype = 'tuple'
and c.relkind = 'r' and count(*) > 10`), &locks, pgx.RowTo[string])
				if err := tx.Load(ctx, &seen); err != nil {
					return err
				}
				return done
			})
		must.ErrorIs(t, err, done, must.Sprint(name))
		slices.Sort(locks)
		test.SliceEmpty(t, locks, test.Sprintf("%s locks %v", name, locks))
	}
	test.SliceLen(t, 10, first, test.Sprintf("%d of %d", len(first), size))
	test.EqOp(t, 40, size, test.Sprintf("%d of %d", len(first), size))
	test.NotNil(t, entry, test.Sprintf("%d of %d", len(first), size))
}

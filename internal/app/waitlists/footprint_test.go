package waitlists_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// What a freed seat looks at locks whom it looks at against change, and no whole table, though the database has just
// been made and the planner knows nothing of the tables' sizes.
func TestFill_LocksNoTables(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	h.Subscribe(h.AddMember("Kim"), h.AddPlan(credit.Plan{Kind: credit.Unlimited})) // of an empty index, all is locked
	class, _, _ := h.AddFullSession(2)
	other, who, booked := h.AddFullSession(12, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
	queueUp(h, 40, class)
	h.AddWaiters(12, testkit.ForSessions(other))
	for i := range who {
		h.MustCancel(who[i], booked[i])
	}
	var (
		first []waitlist.Entry
		live  []waitlist.Offer
		rules []waitlist.Layer
		wait  waitlist.Slot
		size  int
		entry *waitlist.Entry
		busy  []civil.Span
		visit = bookingdb.Visit{Session: class, Member: h.Owner.Member}
		queue = waitlist.Queue{Location: h.Location, Service: h.Service, Date: civil.MustParseDate("2026-03-18")}
	)
	one, err := tenant.Parse[tenant.EntryID](
		h.Text(`select id::text from waitlist_entries where tenant_id = $1 order by join_key limit 1`, h.Tenant),
	)
	if err != nil {
		t.Fatal(err)
	}
	done := errors.New("no more is wanted")
	for name, find := range map[string]func(*pg.Batch){
		"the head of the line": func(b *pg.Batch) {
			waitlistdb.ListQueued(b, h.Tenant, waitlistdb.QueueQuery{Session: class, Queue: queue, Limit: 10}, &first)
		},
		"its length":  func(b *pg.Batch) { waitlistdb.FindQueueSize(b, h.Tenant, class, &size) },
		"the session": func(b *pg.Batch) { waitlistdb.FindWaitSlot(b, h.Tenant, class, &wait) },
		"live offers": func(b *pg.Batch) { waitlistdb.ListLiveOffers(b, h.Tenant, []tenant.SessionID{class}, &live) },
		"the rules":   func(b *pg.Batch) { waitlistdb.ListRules(b, h.Tenant, h.Location, h.Service, &rules) },
		"an entry":    func(b *pg.Batch) { waitlistdb.FindEntry(b, h.Tenant, one, &entry) },
		"who is in it": func(b *pg.Batch) {
			bookingdb.FindDouble(b, h.Tenant, visit, func(bookingdb.Double) {})
		},
		"who is busy": func(b *pg.Batch) { bookingdb.ListBusy(b, h.Tenant, visit, &busy) },
	} {
		var locks []string
		err := h.DB.InTx(t.Context(), pg.Scope{Tenant: h.Tenant}, "look", func(ctx context.Context, tx *pg.Tx) error {
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
		if !errors.Is(err, done) {
			t.Fatalf("%s: %v", name, err)
		}
		if slices.Sort(locks); len(locks) > 0 {
			t.Errorf("%s locks %v", name, locks)
		}
	}
	if len(first) != 10 || size != 40 || entry == nil {
		t.Errorf("%d of %d", len(first), size)
	}
}

package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The transaction that began first commits last. A reader of all durable events misses its event, because the reader's
// position is past it by then. A reader that stops at the horizon waits for it.
func TestRead_DoesNotLoseEventOfSlowTransaction(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	var none outbox.Cursor
	none.ID = tenant.EventID{UUID: tenant.UUID{1}} // not null

	commit := l.slow("A")
	l.add("B")
	hasty, passed := l.naive(none)
	held, err := outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{Limit: 10})
	test.True(
		t, err == nil && len(held.Records) == 0 && held.Held,
		test.Sprintf("%v and %v while A is running, held %v", names(held.Records), err, held.Held),
	)
	commit()
	l.settle()
	late, _ := l.naive(passed)
	test.SliceEqOp(t, []string{"B"}, slices.Concat(hasty, late),
		test.Sprintf("negative control: without the horizon %v and %v were seen, A was not lost", hasty, late))

	page := expect.Value(outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{From: held.End, Limit: 10}))(t)
	must.True(t, !page.Held && !page.More, must.Sprintf("%+v", page))
	test.Eq(t, []string{"A", "B"}, names(page.Records))
}

// Many writers run transactions of any length at the same time, some roll back, and one reader reads all the time.
func TestRead_KeepsAllEventsInOrderWithManyWriters(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	const writers, each = 4, 40
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				tx, err := l.db.Owner.Begin(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				for part := range 2 {
					e := event(fmt.Sprintf("%d/%d/%d", w, i, part))
					_, err := tx.Exec(t.Context(), `
						insert into events (tenant_id, id, type, actor, data, occurred_at) values ($1, $2, $3, '', $4, $5)`,
						l.Tenant, e.ID, e.Type, e.Data, e.At)
					test.NoError(t, err)
					for range rand.N(3) {
						_, _ = tx.Exec(t.Context(), "select 1")
					}
				}
				if i%5 == 4 {
					_ = tx.Rollback(t.Context())
				} else if err := tx.Commit(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	var got []string
	var at outbox.Cursor
	for last := false; ; {
		page := expect.Value(outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{From: at, Limit: 7}))(t)
		got, at = append(got, names(page.Records)...), page.End
		if last && !page.More && !page.Held {
			break
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
	want, _ := l.naive(outbox.Cursor{ID: tenant.EventID{UUID: tenant.UUID{1}}})
	test.EqOp(t, writers*each*4/5*2, len(want), test.Sprintf("%d events are durable", len(want)))
	test.Eq(t, want, got, test.Sprint("(-durable +read)"))
}

func TestRead_PagesForwardAndBackward(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.add("a", "b")
	l.add("c")
	l.add("d", "e", "f")
	l.append(l.newTenant(), event("another tenant's"))
	l.settle()
	for _, c := range []struct {
		name string
		from outbox.Range
		want string
	}{
		{"forward", outbox.Range{Limit: 2}, "ab cd ef"},
		{"forward in one", outbox.Range{Limit: 7}, "abcdef"},
		{"backward", outbox.Range{From: outbox.EndOfLog, Backwards: true, Limit: 4}, "fedc ba"},
	} {
		var got []string
		for at := c.from; ; {
			page := expect.Value(outbox.Read(t.Context(), l.db.DB, l.Tenant, at))(t)
			if len(page.Records) > 0 {
				got = append(got, strings.Join(names(page.Records), ""))
			}
			if !page.More {
				break
			}
			at.From = page.End
		}
		test.Eq(t, c.want, strings.Join(got, " "), test.Sprint(c.name))
	}
	// Everything later starts at the End of a page.
	page, err := outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{})
	must.NoError(t, err)
	l.add("g")
	l.settle()
	if page, err = outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{From: page.End, Limit: 5}); err != nil {
		t.Fatal(err)
	}
	test.Eq(t, []string{"g"}, names(page.Records))
}

// Records carry what is not in the row: IDs from the data, and the session's location and whether it is a draft.
func TestRead_FillsIDsAndSession(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	entry, left := tenant.New[tenant.EntryID](noon), tenant.New[tenant.SessionID](noon)
	offer := tenant.New[tenant.EntryID](noon)
	location, service := tenant.New[tenant.LocationID](noon), tenant.New[tenant.ServiceID](noon)
	session := tenant.New[tenant.SessionID](noon)
	for _, sql := range []string{
		`insert into tenants (tenant_id, name, time_zone, locale, currency, created_at, updated_at)
		 values ($1, 'x', 'UTC', 'en', 'EUR', $5, $5)`,
		`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'x', 'UTC', $5, $5)`,
		`insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at)
		 values ($1, $3, 'x', 60, $5, $5)`,
		`insert into sessions (tenant_id, id, service_id, location_id, title,
		   starts_at, ends_at, local_date, state, created_at, updated_at)
		 values ($1, $4, $3, $2, 'x', $5, $5::timestamptz + interval '1 hour', '2026-03-16', 'DRAFT', $5, $5)`,
	} {
		sql = "with given as (select $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::timestamptz) " + sql
		expect.OK(t)(l.db.Owner.Exec(t.Context(), sql, l.Tenant, location, service, session, noon))
	}
	moved := event("moved")
	moved.Session = session
	moved.Data = map[string]any{
		"entry_id": entry.String(), "offer_id": offer.String(), "from_session_id": left.String(), "count": 2,
	}
	l.append(l.Tenant, moved)
	l.settle()
	page := expect.Value(outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{Limit: 1}))(t)
	r := page.Records[0]
	test.True(
		t, r.ID == moved.ID && r.Session == session && r.Entry == entry && r.Offer == offer.UUID &&
			r.FromSession == left && r.To.Location == location && r.To.Draft,
		test.Sprintf("%+v", r),
	)
	test.Eq(t, map[string]any{"from_session_id": left.String(), "count": 2.0}, r.Data)
}

func TestParseCursor_AcceptsOnlyOwnTokens(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	other := l.newTenant()
	at := outbox.Cursor{XID: 7, ID: tenant.New[tenant.EventID](noon)}
	for _, c := range []outbox.Cursor{at, {}, {XID: 9}} {
		got := expect.Value(outbox.ParseCursor(l.Tenant, c.Token(l.Tenant)))(t)
		test.EqOp(t, c, got, test.Sprintf("%v becomes %v", c, got))
	}
	good := at.Token(l.Tenant)
	for name, text := range map[string]string{
		"of another tenant": at.Token(other),
		"empty":             "",
		"too short":         good[:len(good)-1],
		"too long":          good + "A",
		"no base64":         "%" + good[1:],
		"another version":   "Ag" + good[2:],
		"changed":           good[:20] + string(good[20]^1) + good[21:],
		"padded":            good + "=",
	} {
		_, err := outbox.ParseCursor(l.Tenant, text)
		test.EqOp(t, fault.InvalidField, fault.ReasonOf(err), test.Sprintf("%s: %v", name, err))
	}
	// A position past the end of this database's log comes from another database.
	_, err := outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{From: outbox.Cursor{XID: 1 << 40}, Limit: 1})
	test.EqOp(t, fault.InvalidField, fault.ReasonOf(err), test.Sprint(err))
	f, ok := errors.AsType[*fault.Error](err)
	test.True(t, ok && f.Field == "cursor", test.Sprintf("%v", err))
}

// The log is read through its index, also under row-level security.
func TestRead_UsesIndex(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	ctx := t.Context()
	pool := expect.Value(l.db.OpenPool(ctx, 1, map[string]string{"enable_seqscan": "off"}))(t)
	defer pool.Close()
	tx := expect.Value(pool.Begin(ctx))(t)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	expect.OK(t)(tx.Exec(ctx, "select set_config('app.tenant_id', $1, true)", l.Tenant.String()))
	for _, sql := range []string{
		`select id from events where tenant_id = $1 and (xid, id) > ('5', $1)
		 and xid < pg_snapshot_xmin(pg_current_snapshot()) order by xid, id limit 10`,
		`select id from events where tenant_id = $1 and (xid, id) < ('5', $1)
		 and xid < pg_snapshot_xmin(pg_current_snapshot()) order by xid desc, id desc limit 10`,
		`select 1 where exists (
		 select from events where tenant_id = $1 and xid >= pg_snapshot_xmin(pg_current_snapshot()))`,
	} {
		rows := expect.Value(tx.Query(ctx, "explain "+strings.ReplaceAll(sql, "$1", "'"+l.Tenant.String()+"'")))(t)
		var plan []string
		for rows.Next() {
			var line string
			must.NoError(t, rows.Scan(&line))
			plan = append(plan, line)
		}
		text := strings.Join(plan, "\n")
		if err := rows.Err(); err != nil || !strings.Contains(text, "events_order") || strings.Contains(text, "Sort") ||
			strings.Contains(sql, "(xid, id)") && !strings.Contains(text, "Index Cond: ((tenant_id = ") ||
			strings.Contains(text, "Filter: ((xid") {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

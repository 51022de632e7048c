package rpc

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/scheduleapi"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
)

// BenchmarkWeekPage reads a member's page of a week with 300 sessions over loopback: from the service, and from a bare
// Connect handler, which has neither tokens nor rules, sends the same statements with pgx, reads every value, and
// responds with the same message. Both run in turns. Client, server and Postgres share the machine.
func BenchmarkWeekPage(b *testing.B) {
	w := newWeek(b)
	plain := connect.WithAcceptCompression("gzip", nil, nil)
	for _, way := range []struct {
		name    string
		client  *http.Client
		options connect.ClientOption
		known   bool // the client has a cached page
	}{
		{"connect", http2, plain, false},
		{"grpc", http2, connect.WithClientOptions(connect.WithGRPC(), plain), false},
		{"connect+gzip", http2, connect.WithClientOptions(), false},
		{"get+304", http2, connect.WithClientOptions(connect.WithHTTPGet(), plain), true},
	} {
		b.Run(way.name, func(b *testing.B) {
			service := w.reader(b, berthv1connect.NewSessionServiceClient(way.client, w.URL, way.options), way.known)
			bare := w.reader(b, berthv1connect.NewSessionServiceClient(way.client, w.bare, way.options), false)
			const size = 40
			readConcurrently(4*weekCallers, service)
			readConcurrently(4*weekCallers, bare)
			b.ResetTimer()
			var served, raw time.Duration
			var ratios []float64
			for done := 0; done < b.N; done += size {
				n := min(size, b.N-done)
				s, r := readConcurrently(n, service), readConcurrently(n, bare)
				served, raw = served+s, raw+r
				ratios = append(ratios, r.Seconds()/s.Seconds())
			}
			slices.Sort(ratios)
			b.ReportMetric(float64(b.N)/served.Seconds(), "pages/s")
			b.ReportMetric(float64(b.N)/raw.Seconds(), "raw/s")
			b.ReportMetric(ratios[len(ratios)/2], "of-raw")
			b.ReportMetric(0, "ns/op") // it would be of both together
		})
	}
}

// readConcurrently reads n pages by concurrent callers.
func readConcurrently(n int, read func()) time.Duration {
	var left atomic.Int64
	left.Store(int64(n))
	start := time.Now()
	var all sync.WaitGroup
	for range weekCallers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				read()
			}
		})
	}
	all.Wait()
	return time.Since(start)
}

// weekPage is the service with a full week, and a bare handler of the same page.
type weekPage struct {
	*testServer
	token string
	bare  string
}

const (
	weekSessions = 300
	weekCallers  = 8
)

func newWeek(b *testing.B) *weekPage {
	b.Helper()
	gc := debug.SetGCPercent(400) // as the server sets it
	b.Cleanup(func() { debug.SetGCPercent(gc) })
	clock := testkit.NewClock(monday)
	w := &weekPage{testServer: newTestServer(b, func(c *app.Config) { c.Now = clock.Now })}
	w.token = w.Token(b, "member")
	studio := w.Studio(b, clock)
	location := studio.AddLocation(catalog.Location{Name: "Pier 1"})
	service := studio.AddService(catalog.Service{Name: "Vinyasa", MaxParty: 4})
	studio.SetPolicy(func(p *catalog.PolicyLayer) {
		p.TierCancellations = &map[string]catalog.TierPolicy{"visitor": {CancellationWindow: new(48 * time.Hour)}}
	})
	// By SQL, because thousands of bookings would take long.
	expect.OK(b)(w.DB.Owner.Exec(b.Context(), `
insert into sessions (tenant_id, id, service_id, location_id, title, description, starts_at, ends_at, local_date,
  capacity, seats_taken, waitlist_capacity, state, created_at, updated_at)
select $1, gen_random_uuid(), $2, $3, 'Vinyasa', 'For all who like it slow.', x.at, x.at + interval '1 hour',
  x.at::date, 10, case when x.n % 7 = 0 then 10 else x.n % 10 end, 5, 'PUBLISHED', $4, $4
from (select n, $4::timestamptz + make_interval(mins => n * 32) as at from generate_series(1, $5::int) n) x`,
		w.Tenant, service, location, monday, weekSessions))
	expect.OK(b)(w.DB.Owner.Exec(b.Context(), `vacuum analyze`))
	w.bare = w.listenBare(b)
	return w
}

func (w *weekPage) request() *connect.Request[v1.ListSessionsRequest] {
	return as(w.token, &v1.ListSessionsRequest{PageSize: 500, Filter: &v1.SessionFilter{
		StartsWithin: &v1.TimeRange{Start: timestamppb.New(monday), End: timestamppb.New(monday.AddDate(0, 0, 7))},
	}})
}

// reader returns a function that reads the page.
func (w *weekPage) reader(b *testing.B, client berthv1connect.SessionServiceClient, known bool) func() {
	b.Helper()
	first := expect.Value(client.ListSessions(b.Context(), w.request()))(b)
	must.EqOp(b, weekSessions, len(first.Msg.GetSessions()), must.Sprint(len(first.Msg.GetSessions())))
	tag := first.Header().Get("Etag")
	return func() {
		request := w.request()
		if known {
			request.Header().Set("If-None-Match", tag)
		}
		switch got, err := client.ListSessions(b.Context(), request); {
		case known && connect.IsNotModifiedError(err):
		case known || err != nil:
			b.Error("not what was expected: ", err)
		case len(got.Msg.GetSessions()) != weekSessions:
			b.Error(len(got.Msg.GetSessions()), " sessions")
		}
	}
}

// listenBare serves the page with nothing of the service but its statements and its message.
func (w *weekPage) listenBare(b *testing.B) string {
	b.Helper()
	answered := expect.Value(
		berthv1connect.NewSessionServiceClient(http2, w.URL).ListSessions(b.Context(), w.request()),
	)(b)
	var sent statementRecorder
	db := expect.Value(pg.Open(b.Context(), pg.Config{URL: w.DB.URL, Tracer: &sent}))(b)
	b.Cleanup(db.Close)
	reading := app.New(app.Config{DB: db, Now: func() time.Time { return monday }})
	member := tenant.Caller{
		Tenant: w.Tenant, Subject: "member", Member: w.Members[tenant.RoleMember], Roles: []string{tenant.RoleMember},
	}
	for range 2 { // the first call also loads the snapshot
		sent.statements = nil
		expect.OK(b)(reading.Schedules.ListSessions(b.Context(), member, schedules.SessionQuery{
			Filter: scheduleapi.FilterValue(w.request().Msg.GetFilter()), Limit: convert.MaxPageSize + 1,
		}))
	}
	pool := expect.Value(w.DB.OpenPool(b.Context(), 4, map[string]string{ // like the pool for reads
		"default_transaction_isolation": "repeatable read", "default_transaction_read_only": "on",
	}))(b)
	b.Cleanup(pool.Close)
	mux := http.NewServeMux()
	mux.Handle(berthv1connect.SessionServiceListSessionsProcedure,
		connect.NewUnaryHandlerSimple(berthv1connect.SessionServiceListSessionsProcedure,
			func(ctx context.Context, _ *v1.ListSessionsRequest) (*v1.ListSessionsResponse, error) {
				if err := readAll(ctx, pool, sent.statements); err != nil {
					return nil, err
				}
				return proto.CloneOf(answered.Msg), nil
			}, connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
	return listen(b, mux, traffic.ConnLimits{})
}

// readAll sends statements in one round trip and reads every value of every row.
func readAll(ctx context.Context, pool *pgxpool.Pool, statements []pgx.TraceBatchQueryData) error {
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.SQL, s.Args...)
	}
	results := pool.SendBatch(ctx, &batch)
	for range statements {
		rows, err := results.Query()
		if err != nil {
			return errors.Join(err, results.Close())
		}
		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				return errors.Join(err, results.Close())
			}
		}
	}
	return results.Close()
}

// statementRecorder records the statements of a batch.
type statementRecorder struct{ statements []pgx.TraceBatchQueryData }

func (*statementRecorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*statementRecorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*statementRecorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *statementRecorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	r.statements = append(r.statements, data)
}

func (*statementRecorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

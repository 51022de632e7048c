package schedules_test

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A member's page of a week with 300 sessions: by the use case, and the statements that it sends, over bare pgx. Both
// take turns, because the machine is never the same twice.
func BenchmarkWeekPage(b *testing.B) {
	w := newWeek(b)
	for _, callers := range []int{1, 8} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			page, raw, ratio := w.takeTurns(b, callers)
			b.ReportMetric(float64(b.N)/page.wall.Seconds(), "pages/s")
			b.ReportMetric(float64(b.N)/raw.wall.Seconds(), "raw/s")
			b.ReportMetric(ratio, "of-raw")
			b.ReportMetric(float64(page.own.Microseconds())/float64(b.N), "own-µs")
			b.ReportMetric(float64(raw.own.Microseconds())/float64(b.N), "raw-own-µs")
			b.ReportMetric(float64((page.postgres+raw.postgres).Microseconds())/float64(2*b.N), "postgres-µs")
			b.ReportMetric((raw.own+raw.postgres).Seconds()/(page.own+page.postgres).Seconds(), "of-raw-cpu")
			b.ReportMetric(0, "ns/op") // of both together
		})
	}
}

// The use case alone, for profiles.
func BenchmarkWeekPageOnly(b *testing.B) {
	w := newWeek(b)
	b.ReportAllocs()
	for b.Loop() {
		w.page(b)
	}
}

// The statements alone.
func BenchmarkWeekPageRaw(b *testing.B) {
	w := newWeek(b)
	b.ReportAllocs()
	for b.Loop() {
		w.raw(b)
	}
}

// weekPage is a tenant with a full week, and a member who looks at it.
type weekPage struct {
	*testkit.Studio
	who        tenant.Caller
	pool       *pgxpool.Pool
	statements []pgx.TraceBatchQueryData
	backends   []int
}

const (
	weekSessions = 300
	weekConns    = 8
)

func newWeek(b *testing.B) *weekPage {
	b.Helper()
	gc := debug.SetGCPercent(400) // as the server has it
	b.Cleanup(func() { debug.SetGCPercent(gc) })
	var seen statements
	w := &weekPage{Studio: testkit.New(b, func(c *pg.Config) { c.Tracer, c.ReadConns = &seen, weekConns })}
	for i := range 2 {
		w.AddLocation(catalog.Location{Name: fmt.Sprint("Pier ", i+2)})
	}
	for i := range 5 {
		w.AddService(catalog.Service{Name: fmt.Sprint("Class ", i), MaxParty: 4})
	}
	w.SetPolicy(func(p *catalog.Policy) {
		p.Cancellation = new(12 * time.Hour)
		p.Tiers = &map[string]catalog.TierPolicy{"visitor": {Cancellation: new(48 * time.Hour)}}
	})
	w.SetPolicyOf(
		settings.PolicyTarget{Location: w.Location}, func(p *catalog.Policy) { p.BookingCloses = new(15 * time.Minute) },
	)
	w.SetPolicyOf(
		settings.PolicyTarget{Service: w.Service}, func(p *catalog.Policy) { p.Advance = new(14 * 24 * time.Hour) },
	)
	// Every 32 minutes for a week, in turn at all locations and of all services; one in seven is full. By SQL, because
	// thousands of bookings would take long.
	w.Exec(`
insert into sessions (tenant_id, id, service_id, location_id, title, description, starts_at, ends_at, local_date,
capacity, seats_taken, waitlist_capacity, state, created_at, updated_at)
select $1, gen_random_uuid(), v.id, l.id, v.name, 'For all who like it slow.', x.at, x.at + interval '1 hour',
x.at::date,
  10, case when x.n % 7 = 0 then 10 else x.n % 10 end, 5, 'PUBLISHED', $2, $2
from (select n, $2::timestamptz - interval '11 hours' + make_interval(mins => n * 32) as at from generate_series(1,
$3::int) n) x
join (select id, name, row_number() over (order by name) - 1 as i from services where tenant_id = $1) v on v.i = x.n % 6
join (select id, row_number() over (order by name) - 1 as i from locations where tenant_id = $1) l
on l.i = x.n % 3`, w.Tenant, testkit.Noon, weekSessions)
	w.who = w.AddMember("Mia")
	w.Subscribe(w.who, w.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 30, DailyLimit: new(2), WeeklyLimit: new(9)}))
	for i, s := range listSessions(w.Studio, w.who, testkit.WeekQuery()) {
		if i%60 == 59 && s.Eligibility.Status == "ELIGIBLE" {
			w.MustBook(w.who, s.ID)
		}
	}
	w.Exec(`vacuum analyze`)
	w.statements, _ = seen.during(func() {
		must.EqOp(b, weekSessions, len(listSessions(w.Studio, w.who, testkit.WeekQuery())), must.Sprint(" sessions"))
	})
	seen.deaf.Store(true)
	pool := expect.Value(w.DB.OpenPool(context.Background(), weekConns, map[string]string{ // as the pool for reads
		"default_transaction_isolation": "repeatable read", "default_transaction_read_only": "on",
	}))(b)
	b.Cleanup(pool.Close)
	w.pool = pool
	return w
}

// takeTurns reads b.N pages each way, in turns of a fraction of them. It returns what each took in total, and the
// median ratio of the speeds of the page and the raw way in neighboring turns.
func (w *weekPage) takeTurns(b *testing.B, callers int) (page, raw spent, ratio float64) {
	b.Helper()
	turn := func(n int, read func(testing.TB)) spent {
		var left atomic.Int64
		left.Store(int64(n))
		start, own, postgres := time.Now(), ownTime(b), w.postgresTime(b)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for left.Add(-1) >= 0 {
					read(b)
				}
			})
		}
		all.Wait()
		return spent{time.Since(start), ownTime(b) - own, w.postgresTime(b) - postgres}
	}
	turn(4*callers, w.page) // connect and prepare
	turn(4*callers, w.raw)
	w.findBackends(b)
	b.ResetTimer()
	const size = 50
	var ratios []float64
	for done := 0; done < b.N; done += size {
		n := min(size, b.N-done)
		var p, r spent
		if done/size%2 == 0 {
			p, r = turn(n, w.page), turn(n, w.raw)
		} else {
			r, p = turn(n, w.raw), turn(n, w.page)
		}
		page.add(p)
		raw.add(r)
		ratios = append(ratios, r.wall.Seconds()/p.wall.Seconds())
	}
	slices.Sort(ratios)
	return page, raw, ratios[len(ratios)/2]
}

func (w *weekPage) findBackends(b *testing.B) {
	b.Helper()
	rows, err := w.DB.Owner.Query(
		context.Background(), `select pid from pg_stat_activity where datname = current_database()`,
	)
	if err == nil {
		w.backends, err = pgx.CollectRows(rows, pgx.RowTo[int])
	}
	must.NoError(b, err)
}

// spent is what a turn took: on the clock, and of the processor, by this process and by Postgres.
type spent struct{ wall, own, postgres time.Duration }

func (s *spent) add(more spent) {
	s.wall += more.wall
	s.own += more.own
	s.postgres += more.postgres
}

func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// postgresTime is that of all backends that are connected to the database.
func (w *weekPage) postgresTime(b *testing.B) time.Duration {
	b.Helper()
	var total time.Duration
	for _, pid := range w.backends {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid)) // nanoseconds on the processor come first
		if err != nil {
			return 0
		}
		var ns int64
		expect.OK(b)(fmt.Sscan(string(text), &ns))
		total += time.Duration(ns)
	}
	return total
}

func (w *weekPage) page(b testing.TB) {
	b.Helper()
	all := expect.Value(w.App.Schedules.ListSessions(context.Background(), w.who, testkit.WeekQuery()))(b)
	test.EqOp(b, weekSessions, len(all), test.Sprint(len(all)))
}

// raw sends the same statements, and reads every row into a struct.
func (w *weekPage) raw(b testing.TB) {
	b.Helper()
	var batch pgx.Batch
	for _, s := range w.statements {
		batch.Queue(s.SQL, s.Args...)
	}
	results := w.pool.SendBatch(context.Background(), &batch)
	rows := 0
	for range w.statements {
		n, err := scanAll(results)
		if err != nil {
			b.Error(err)
			break
		}
		rows += n
	}
	if err := results.Close(); err != nil || rows < weekSessions {
		b.Error(rows, err)
	}
}

// scanAll reads the rows of the next statement.
func scanAll(results pgx.BatchResults) (int, error) {
	rows, err := results.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if rows.FieldDescriptions()[0].Name == "id" && rows.FieldDescriptions()[1].Name == "service_id" {
		var all []rawSession
		for rows.Next() {
			var s rawSession
			if err := rows.Scan(s.targets()...); err != nil {
				return 0, err
			}
			all = append(all, s)
		}
		return len(all), rows.Err()
	}
	n := 0
	for ; rows.Next(); n++ {
		if _, err := rows.Values(); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// rawSession has what the statement for the sessions reads.
type rawSession struct {
	ID                                           tenant.SessionID
	Service                                      tenant.ServiceID
	Location                                     tenant.LocationID
	Resource                                     tenant.ResourceID
	Coach                                        tenant.MemberID
	Series                                       tenant.SeriesID
	Title, Description                           string
	StartsAt, EndsAt, LocalDate                  time.Time
	OccursOn, OccursAt                           *time.Time
	Detached                                     bool
	Capacity                                     *int
	SeatsTaken, WaitlistCapacity, Waiting, Holds int
	State                                        string
	Blocked                                      bool
	StateReason                                  string
	Version                                      int
	CreatedAt, UpdatedAt                         time.Time
	CoachName                                    string
	Workouts                                     []tenant.WorkoutID
}

func (s *rawSession) targets() []any {
	return []any{
		&s.ID, &s.Service, &s.Location, &s.Resource, &s.Coach, &s.Series, &s.OccursOn, &s.OccursAt, &s.Detached,
		&s.Title, &s.Description, &s.StartsAt, &s.EndsAt, &s.LocalDate, &s.Capacity, &s.WaitlistCapacity, &s.State,
		&s.Blocked, &s.StateReason, &s.Version, &s.CreatedAt, &s.UpdatedAt, &s.SeatsTaken, &s.Waiting, &s.Holds,
		&s.CoachName, &s.Workouts,
	}
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/lab/bench/report"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// pgbenchConns is the number of connections of pgbench and of the naive way: as many as the command pool has.
const pgbenchConns = 16

// statement is a statement as it was sent to the database.
type statement struct {
	sql  string
	args []any
}

// recorder keeps the batches that are sent.
type recorder struct {
	mu      sync.Mutex
	batches [][]statement
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	var batch []statement
	for _, q := range data.Batch.QueuedQueries {
		batch = append(batch, statement{q.SQL, q.Arguments})
	}
	r.batches = append(r.batches, batch)
	return ctx
}
func (r *recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (r *recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// recordScript books once and turns every statement sent into a line of a pgbench script, round trip by round trip. Ids
// become expressions that pgbench counts up.
func (b *testbed) recordScript(ctx context.Context) (string, error) {
	seen := new(recorder)
	db, err := pg.Open(ctx, pg.Config{URL: b.postgres.URL, Tracer: seen, CommandConns: 1, ReadConns: 1})
	if err != nil {
		return "", err
	}
	defer db.Close()
	node := app.New(app.Config{DB: db, Now: time.Now})
	book := func(member int) (tenant.Caller, seats.Result, error) {
		caller := callerOf(pgbenchTenant, member)
		result, err := node.Bookings.Book(
			ctx, caller, bookings.BookRequest{Session: sessionID(0), Party: 1, Channel: catalog.Online},
		)
		return caller, result, err
	}
	if _, _, err := book(memberCount - 2); err != nil { // fills the caches: what they read once is not part of a booking
		return "", err
	}
	seen.batches = nil
	caller, result, err := book(memberCount - 1)
	if err != nil {
		return "", err
	}
	ids := map[[16]byte]string{
		caller.Tenant.Bytes():               "'" + caller.Tenant.String() + "'::uuid",
		caller.Member.Bytes():               numbered("b000", ":member"),
		result.Booking.Session.Bytes():      numbered("9000", ":session"),
		result.Booking.Subscription.Bytes(): numbered("8000", ":member"),
		result.Booking.ID.Bytes():           clientID("a000"),
	}
	var script strings.Builder
	fmt.Fprintf(&script, "\\set n :n + 1\n"+
		"\\set session (:client_id * 613 + :n * 7919) %% %d\n"+
		"\\set member %d + :client_id + %d * (:n / %d)\n",
		sessionCount, memberCount/2, pgbenchConns, sessionCount)
	for _, batch := range seen.batches {
		script.WriteString("\\startpipeline\n")
		for _, s := range batch {
			script.WriteString(s.inlined(ids) + ";\n")
		}
		script.WriteString("\\endpipeline\n")
	}
	return script.String(), nil
}

// clientID is the SQL of an id that counts up for each connection of pgbench, as new ids do.
func clientID(group string) string {
	return fmt.Sprintf("(lpad(to_hex((1 + :client_id)::bigint), 8, '0') || '-0000-7000-%s-' || "+
		"lpad(to_hex((:n)::bigint), 12, '0'))::uuid", group)
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// inlined returns the statement's text with its arguments as literals.
func (s statement) inlined(ids map[[16]byte]string) string {
	sql := parameter.ReplaceAllStringFunc(s.sql, func(p string) string {
		n, _ := strconv.Atoi(p[1:])
		return literal(s.args[n-1], ids)
	})
	return strings.Join(strings.Fields(sql), " ")
}

// literal writes a value as SQL. An id that is not in ids was created for this booking.
func literal(value any, ids map[[16]byte]string) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case interface{ Bytes() [16]byte }:
		b := v.Bytes()
		if known, ok := ids[b]; ok {
			return known
		}
		if b == ([16]byte{}) {
			return "null::uuid"
		}
		return clientID(fmt.Sprintf("a%03x", len(ids)))
	case time.Time:
		return "'" + v.Format(time.RFC3339Nano) + "'::timestamptz"
	case civil.Date:
		return "'" + v.String() + "'::date"
	case []byte:
		if v == nil {
			return "null"
		}
		return "'" + string(v) + "'"
	}
	r := reflect.ValueOf(value)
	switch r.Kind() {
	case reflect.Pointer:
		if r.IsNil() {
			return "null"
		}
		return literal(r.Elem().Interface(), ids)
	case reflect.Slice:
		elements := make([]string, r.Len())
		for i := range elements {
			elements[i] = literal(r.Index(i).Interface(), ids)
		}
		return "array[" + strings.Join(elements, ",") + "]"
	case reflect.String:
		return "'" + r.String() + "'"
	default:
		return fmt.Sprint(value)
	}
}

var (
	tpsLine  = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)
	doneLine = regexp.MustCompile(`(?m)^number of transactions actually processed: ([0-9]+)`)
)

// pgbench runs the script for a time. Its processor time is compared with that of load generator and server.
func (b *testbed) pgbench(ctx context.Context, length time.Duration) (run report.Run, err error) {
	path := filepath.Join(b.folder, "book.sql")
	if err := os.WriteFile(path, []byte(b.script), 0o600); err != nil {
		return run, err
	}
	program := filepath.Join(b.postgres.Programs, "pgbench")
	if _, err := os.Stat(program); err != nil {
		return run, fmt.Errorf("pgbench is not in the folder of Postgres's other programs: %w", err)
	}
	seconds := math.Ceil(length.Seconds())
	logs := filepath.Join(b.folder, "pgbench_log")
	b.nextStep += int64(sessionCount) // continues with members that no run has booked for
	cmd := exec.CommandContext(ctx, program, "--no-vacuum", "--protocol=prepared", "--file="+path,
		"--client="+strconv.Itoa(pgbenchConns), "--jobs=2", "--time="+strconv.Itoa(int(seconds)), "--max-tries=20",
		"--log", "--log-prefix="+logs, "--define=n="+strconv.FormatInt(b.nextStep, 10), b.postgres.URL)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c role=berth_app -c enable_seqscan=off -c enable_hashjoin=off "+
		"-c enable_mergejoin=off -c plan_cache_mode=force_generic_plan")
	before, err := b.counters(ctx, work{})
	if err != nil {
		return run, err
	}
	cpu := b.measureCPU()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return run, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	tps, done := tpsLine.FindSubmatch(out), doneLine.FindSubmatch(out)
	if tps == nil || done == nil {
		return run, fmt.Errorf("no result in the output of pgbench:\n%s", out)
	}
	if run.PerSecond, err = strconv.ParseFloat(string(tps[1]), 64); err != nil {
		return run, err
	}
	if run.Answers, err = strconv.Atoi(string(done[1])); err != nil {
		return run, err
	}
	own := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	run.OwnCPU, run.PostgresCPU = perAnswer(own, run.Answers), perAnswer(cpu().postgres, run.Answers)
	after, err := b.counters(ctx, work{}) // its backends have ended, and so have reported
	if err != nil {
		return run, err
	}
	counted := after.since(before)
	run.Seconds, run.Together = seconds, 1
	run.WALBytes, run.Fsyncs = counted.wal/float64(run.Answers), counted.fsyncs/seconds
	run.P50, run.P99, err = readLatencies(logs)
	return run, err
}

// readLatencies reads pgbench's logs and removes them. Their third column is the latency in microseconds.
func readLatencies(logs string) (p50, p99 time.Duration, err error) {
	files, err := filepath.Glob(logs + ".*")
	if err != nil {
		return 0, 0, err
	}
	var took []time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, 0, err
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 2 {
				us, _ := strconv.Atoi(fields[2])
				took = append(took, time.Duration(us)*time.Microsecond)
			}
		}
		if err := os.Remove(file); err != nil {
			return 0, 0, err
		}
	}
	if len(took) == 0 {
		return 0, 0, errors.New("pgbench has logged nothing")
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100], nil
}

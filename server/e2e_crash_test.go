package main

import (
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/migrations"
)

// testCrashRecovery kills first the server and then Postgres during bookings and cancellations. Everything acknowledged
// must exist, every invariant must hold, and the server must work afterwards.
func testCrashRecovery(t *testing.T, binary string) {
	folder := pgtest.TempDir(t)
	postgres := startDurable(t, folder, 0)
	must.NoError(t, pg.Migrate(t.Context(), postgres.URL, migrations.FS, nil))
	l := newLoad(t, binary, postgres.URL, folder)

	first := l.serve()
	l.run(func() { first.signal(t, syscall.SIGKILL) })
	l.check("the server was killed")

	second := l.serve()
	l.retryUnanswered()
	port := expect.Value(strconv.Atoi(expect.Value(url.Parse(postgres.TCP))(t).Port()))(t)
	l.run(func() {
		must.NoError(t, syscall.Kill(postgres.PID(), syscall.SIGKILL))
		<-postgres.Done()
	})
	postgres = startDurable(t, folder, port)
	l.check("Postgres was killed")
	eventually(t, "the server finds Postgres again", func() bool {
		_, err := getTenant(t.Context(), "http://"+l.address, l.token(tenant.RoleOwner))
		return err == nil
	})
	l.retryUnanswered()
	before := len(l.acknowledged)
	l.run(nil)
	l.retryUnanswered() // some may not have reached the server
	l.check("work went on")
	test.NotEqOp(t, before, len(l.acknowledged), test.Sprint("no responses, although nothing was killed"))
	second.signal(t, syscall.SIGTERM)
	test.EqOp(t, 0, second.ProcessState.ExitCode(), test.Sprint("status"))
}

// startDurable starts a durable Postgres. It retries: the backends of a killed Postgres exit after some time, and its
// port may be in use until then.
func startDurable(t *testing.T, folder string, port int) (postgres *localpg.Server) {
	t.Helper()
	var err error
	eventually(t, "Postgres starts", func() bool {
		postgres, err = localpg.Start(t.Context(), localpg.Config{DataDir: filepath.Join(folder, "postgres"), Port: port})
		must.False(t, err != nil && port == 0, must.Sprint(err))
		return err == nil
	})
	t.Cleanup(func() { _ = postgres.Stop() })
	return postgres
}

// load makes bookings and cancellations until it is stopped.
type load struct {
	*world
	url     string
	binary  string
	address string
	tokens  []string // tokens

	mu sync.Mutex
	// acknowledged is the last known status of each booking and entry. Uncertain ones may have been cancelled since.
	// Unanswered requests may have created a booking.
	acknowledged map[string]string
	uncertain    map[string]bool
	unanswered   []unanswered
}

type unanswered struct {
	token   string
	request *v1.BookRequest
}

const callers = 32

func newLoad(t *testing.T, binary, url, folder string) *load {
	t.Helper()
	keys := boot.KeyConfig{Data: folder, Issuer: "berth", Audience: "berth"}
	expect.OK(t)(keys.Files().Create())
	n := expect.Value(boot.Open(
		t.Context(), slog.New(slog.DiscardHandler), url, keys,
		boot.ListenConfig{TimeLimit: waitTimeout},
	))(t)
	t.Cleanup(n.Close)
	l := &load{
		world: newWorld(t, &liveNode{Node: n, data: folder}), url: url, binary: binary,
		acknowledged: make(map[string]string), uncertain: make(map[string]bool),
	}
	for range callers {
		caller := l.newMember()
		l.newSubscription(caller)
		l.tokens = append(l.tokens, l.token(caller.Subject))
	}
	return l
}

// serve runs the server in its own process.
func (l *load) serve() *process {
	l.t.Helper()
	p := startProcess(
		l.t, l.binary, "serve", "--database-url", l.url, "--data", l.live.data, "--listen", "127.0.0.1:0", "--log-format",
		"text",
	)
	l.address, _, _ = strings.Cut(p.out.after(l.t, "address="), " ")
	return p
}

// minResponses is the number of responses before a run is interrupted.
const minResponses = 150

// run lets all members book and cancel in new sessions. In the middle it calls interrupt, which ends the run.
func (l *load) run(interrupt func()) {
	l.t.Helper()
	sessions := make([]tenant.SessionID, callers)
	for i := range sessions {
		sessions[i] = l.newSession(
			func(in *session.Input) { in.Capacity, in.WaitlistCapacity = new(callers/2), new(callers/4) },
		)
	}
	conns := make([]*grpc.ClientConn, 4)
	for i := range conns {
		conns[i] = dial(l.t, l.address)
	}
	var answers atomic.Int64
	middle, over := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for i, raw := range l.tokens {
		all.Go(func() {
			for n := range sessions {
				select {
				case <-over:
					return
				default:
				}
				if !l.bookAndMaybeCancel(conns[i%len(conns)], raw, sessions[(i+n)%len(sessions)], n%3 == 0) {
					return
				}
				if answers.Add(1) == minResponses {
					close(middle)
				}
			}
		})
	}
	if interrupt != nil {
		select {
		case <-middle:
		case <-time.After(waitTimeout):
			l.t.Error("there are no answers")
		}
		interrupt()
		close(over)
	}
	all.Wait()
}

// bookAndMaybeCancel returns false if the server or Postgres no longer responds.
func (l *load) bookAndMaybeCancel(conn *grpc.ClientConn, raw string, in tenant.SessionID, cancel bool) bool {
	request := &v1.BookRequest{SessionId: text(in), ExternalRef: unique()}
	answer := new(v1.BookResponse)
	ctx := withToken(l.ctx(), raw)
	if err := conn.Invoke(ctx, berthv1connect.BookingServiceBookProcedure, request, answer); err != nil {
		if isFinal(err) {
			return true
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unanswered = append(l.unanswered, unanswered{raw, request})
		return false
	}
	id := answer.GetBooking().GetId()
	if id == "" {
		l.note(answer.GetEntry().GetId(), "WAITING", false)
		return true
	}
	l.note(id, "CONFIRMED", cancel)
	if !cancel {
		return true
	}
	if err := conn.Invoke(
		ctx, berthv1connect.BookingServiceCancelBookingProcedure, &v1.CancelBookingRequest{BookingId: id},
		new(v1.CancelBookingResponse),
	); err != nil {
		if isFinal(err) {
			l.note(id, "CONFIRMED", false)
			return true
		}
		return false
	}
	l.note(id, "CANCELLED", false)
	return true
}

// isFinal reports whether an error guarantees that nothing was changed.
func isFinal(err error) bool {
	reason := outcomeOf(nil, err).Reason
	return reason == "SESSION_FULL" || reason == "CONTENTION"
}

func (l *load) note(id, status string, uncertain bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged[id], l.uncertain[id] = status, uncertain
}

// check fails if something acknowledged does not exist, or an invariant is violated.
func (l *load) check(after string) {
	l.t.Helper()
	said := runBerth(l.t, "verify", "--database-url", l.url)
	test.True(l.t, strings.Contains(said, "every invariant holds"), test.Sprintf("after %s: %s", after, said))
	conn := expect.Value(pgx.Connect(l.ctx(), l.url))(l.t)
	defer conn.Close(l.ctx())
	found := expect.Value(conn.Query(l.ctx(), `
		select id::text, status from bookings where tenant_id = $1
		union all select id::text, status from waitlist_entries where tenant_id = $1`, l.ID.String()))(l.t)
	there := make(map[string]string)
	var id, status string
	expect.OK(l.t)(pgx.ForEachRow(found, []any{&id, &status}, func() error { there[id] = status; return nil }))
	l.t.Logf("after %s: %d answers, %d open questions", after, len(l.acknowledged), len(l.unanswered))
	for id, want := range l.acknowledged {
		got := there[id]
		test.False(
			l.t, got != want && (want != "WAITING" || got != "BOOKED" && got != "OFFERED") &&
				(!l.uncertain[id] || got != "CANCELLED"),
			test.Sprintf("after %s: %s was acknowledged as %s, and is %q", after, id, want, got),
		)
	}
}

// retryUnanswered repeats requests without a response. The same reference gets one place, whether it was booked before
// or not.
func (l *load) retryUnanswered() {
	l.t.Helper()
	conn := dial(l.t, l.address)
	for _, u := range l.unanswered {
		var twice []string
		for range 2 {
			answer := new(v1.BookResponse)
			got := outcomeOf(answer, conn.Invoke(
				withToken(l.ctx(), u.token), berthv1connect.BookingServiceBookProcedure, u.request, answer,
			))
			test.False(l.t, got.Code != codes.OK && got.Reason != "SESSION_FULL", test.Sprintf("asked again: %s", got))
			twice = append(twice, answer.GetBooking().GetId()+answer.GetEntry().GetId())
		}
		test.EqOp(l.t, twice[1], twice[0], test.Sprintf("asked again, the places are %v", twice))
	}
	l.unanswered = nil
}

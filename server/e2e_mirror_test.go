package main

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/berthhq/berth/clients/go/berth"
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// The mirror is killed at random points during bookings and cancellations. At the end its file equals the API, with
// each booking once.
func TestMirror_EqualsTheAPIAfterKills(t *testing.T) {
	t.Parallel()
	m := newMirrorTest(t)
	var load sync.WaitGroup
	var enough atomic.Bool
	for _, raw := range m.tokens {
		load.Go(func() {
			for !enough.Load() {
				m.bookAndCancel(raw)
			}
		})
	}
	const kills = 12
	midway := 0
	for kill := range kills {
		before := m.cursor(t)
		mirror := m.start(t)
		if kill%3 != 0 { // the others are killed as early as possible
			eventually(t, "the mirror gets somewhere", func() bool { return m.cursor(t) != before })
		}
		select {
		case <-time.After(rand.N(100 * time.Millisecond)):
		case <-mirror.done:
			t.Fatalf("it ended by itself:\n%s", mirror.out)
		}
		if m.cursor(t) != before {
			midway++
		}
		mirror.signal(t, syscall.SIGKILL)
	}
	enough.Store(true)
	load.Wait()
	t.Logf("killed %d times, %d of them at work", kills, midway)

	mirror := m.start(t)
	want := m.bookings(t)
	eventually(t, "the file has what the API has", func() bool { return cmp.Equal(want, m.rows(t)) })
	mirror.signal(t, syscall.SIGTERM)
	test.EqOp(t, 0, mirror.ProcessState.ExitCode(), test.Sprintf("status \n%s", mirror.out))
	test.Eq(t, want, m.rows(t), test.Sprint("bookings (-API +file)"))
	statuses := map[string]int{}
	for _, status := range want {
		statuses[status]++
	}
	t.Logf("%d bookings: %v", len(want), statuses)
	test.NotEqOp(t, 0, statuses["CONFIRMED"], test.Sprint("nothing much happened"))
	test.NotEqOp(t, 0, statuses["CANCELLED"], test.Sprint("nothing much happened"))
}

// Negative control: a mirror that stored the cursor before the rows would lose rows when it is killed in between.
func TestMirror_MissesRowsIfTheCursorIsStoredFirst(t *testing.T) {
	t.Parallel()
	m := newMirrorTest(t)
	m.bookAndCancel(m.tokens[0])
	m.waitUntilVisible() // the mirror reads everything at once, and stores the cursor of the end
	want := m.bookings(t)
	run := func(enough func() bool) {
		mirror := m.start(t)
		eventually(t, "the mirror has worked", enough)
		mirror.signal(t, syscall.SIGKILL)
	}
	run(func() bool { return cmp.Equal(want, m.rows(t)) && m.cursor(t) != "" })
	// The rows are lost, but the cursor is after them.
	must.NoError(t, os.Remove(m.file))
	m.bookAndCancel(m.tokens[1])
	all := m.bookings(t)
	run(func() bool { return len(m.rows(t)) == len(all)-len(want) })
	test.False(t, cmp.Equal(all, m.rows(t)), test.Sprint("the cursor means nothing"))
}

// mirrorTest is a tenant with a mirror, and members who book.
type mirrorTest struct {
	*world
	binary, file, key string
	tokens            []string // their tokens
	sessions          []tenant.SessionID
}

func newMirrorTest(t *testing.T) *mirrorTest {
	t.Helper()
	m := &mirrorTest{world: newWorld(t, newLive(t)), file: filepath.Join(t.TempDir(), "bookings.csv")}
	m.binary = filepath.Join(t.TempDir(), "mirror")
	out, err := exec.CommandContext(
		t.Context(), "go", "build", "-buildvcs=false", "-o", m.binary, "../clients/go/examples/mirror",
	).CombinedOutput()
	must.NoError(t, err, must.Sprintf("%v\n%s", err, out))
	reader, err := m.app.Accounts.CreateRole(
		t.Context(), m.owner, grant.Role{Name: unique(), Title: unique(), Permissions: []string{"booking.read"}},
	)
	m.ok(err)
	_, m.key, err = m.app.Accounts.CreateServiceAccount(
		t.Context(), m.owner, grant.ServiceAccount{Name: unique(), Roles: []string{tenant.RolePartner, reader.Name}},
	)
	m.ok(err)
	for range 8 {
		caller := m.newMember()
		m.newSubscription(caller)
		m.tokens = append(m.tokens, m.token(caller.Subject))
	}
	for range 24 {
		m.sessions = append(m.sessions, m.newSession(
			func(in *session.Input) { in.Capacity, in.WaitlistCapacity = new(4), new(2) },
		))
	}
	return m
}

// start runs the mirror in its own process, with its key in the environment.
func (m *mirrorTest) start(t *testing.T) *process {
	t.Helper()
	return startProcess(t, "env", "BERTH_KEY="+m.key, m.binary, "-url", "http://"+m.live.Address, "-file", m.file)
}

// bookAndCancel books every session, and cancels every second place that existed before, so that waiting entries are
// promoted.
func (m *mirrorTest) bookAndCancel(raw string) {
	client := berth.New("http://"+m.live.Address, berth.WithTokens(berth.StaticToken(raw)))
	for _, in := range m.sessions {
		_, err := client.Bookings.Book(m.ctx(), connect.NewRequest(&v1.BookRequest{SessionId: text(in)}))
		refusal := berth.RefusalOf(err)
		id := refusal.Metadata["booking_id"]
		if err != nil && id == "" && refusal.Code != connect.CodeFailedPrecondition &&
			refusal.Code != connect.CodeAlreadyExists {
			m.t.Error(err)
			return
		}
		if id == "" || rand.N(2) == 0 {
			continue
		}
		if _, err := client.Bookings.CancelBooking(
			m.ctx(), connect.NewRequest(&v1.CancelBookingRequest{BookingId: id}),
		); err != nil {
			m.t.Error(err)
			return
		}
	}
}

// bookings returns the status of each booking in the API, by id.
func (m *mirrorTest) bookings(t *testing.T) map[string]string {
	t.Helper()
	client := berth.New("http://"+m.live.Address, berth.WithTokens(berth.StaticToken(m.token(m.owner.Subject))))
	there := make(map[string]string)
	year := &v1.SessionFilter{StartsWithin: &v1.TimeRange{
		Start: timestamppb.New(m.now.AddDate(0, 0, -30)), End: timestamppb.New(m.now.AddDate(0, 0, 30)),
	}}
	for s, err := range berth.All(
		t.Context(), client.Sessions.ListSessions, &v1.ListSessionsRequest{Filter: year},
		(*v1.ListSessionsResponse).GetSessions,
	) {
		m.ok(err)
		roster, err := client.Bookings.GetSessionRoster(
			t.Context(), connect.NewRequest(&v1.GetSessionRosterRequest{SessionId: s.GetId(), Statuses: allStatuses}),
		)
		m.ok(err)
		for _, b := range roster.Msg.GetBookings() {
			there[b.GetId()] = b.GetStatus().String()[len("BOOKING_STATUS_"):]
		}
	}
	return there
}

// rows returns the same from the file. The file must be complete at any time, and have no booking twice.
func (m *mirrorTest) rows(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m.ok(err)
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	m.ok(err)
	must.NotEqOp(t, 0, len(records), must.Sprint("the file is empty"))
	status := slices.Index(records[0], "status")
	rows := make(map[string]string)
	for _, record := range records[1:] {
		_, twice := rows[record[0]]
		test.False(t, twice, test.Sprintf("%s stands there twice", record[0]))
		rows[record[0]] = record[status]
	}
	return rows
}

func (m *mirrorTest) cursor(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(m.file + ".cursor")
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	m.ok(err)
	return string(content)
}

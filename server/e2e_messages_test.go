package main

import (
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/migrations"
)

// limitedTwilio is a fake of Twilio that responds to a number of messages, and then accepts messages without a
// response.
type limitedTwilio struct {
	mu      sync.Mutex
	answers int
	silent  int
	stuck   chan struct{} // closed when enough messages are waiting
}

// inProgress is the number of messages in progress when the server is killed.
const inProgress = 8

func (t *limitedTwilio) set(answers int) (stuck <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers, t.silent, t.stuck = answers, 0, make(chan struct{})
	return t.stuck
}

func (t *limitedTwilio) react(twiliotest.Message) twiliotest.Reaction {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers--; t.answers >= 0 {
		return twiliotest.Reaction{}
	}
	if t.silent++; t.silent == inProgress {
		close(t.stuck)
	}
	return twiliotest.Reaction{Silent: true}
}

// testCrashWhileSending kills the server repeatedly while it sends messages. At the end every recipient got their
// message, and the log marks possible duplicates: each message that reached the provider has a line that was written
// before.
func testCrashWhileSending(t *testing.T, binary string) {
	folder := pgtest.TempDir(t)
	postgres := startDurable(t, folder, 0)
	must.NoError(t, pg.Migrate(t.Context(), postgres.URL, migrations.FS, nil))
	keys := boot.KeyConfig{Data: folder, Issuer: "berth", Audience: "berth"}
	expect.OK(t)(keys.Files().Create())
	n := expect.Value(boot.Open(
		t.Context(), slog.New(slog.DiscardHandler), postgres.URL, keys, boot.ListenConfig{TimeLimit: waitTimeout},
	))(t)
	t.Cleanup(n.Close)
	w := newWorld(t, &liveNode{Node: n, data: folder})
	expect.OK(w.t)(w.app.Messages.UpdateNotificationSettings(
		w.ctx(), w.owner, nil, func(s *notify.Settings) { s.QuietHours = notify.QuietHours{} },
	))
	fake, door := twiliotest.Start(), new(limitedTwilio)
	t.Cleanup(fake.Close)
	fake.React(door.react)

	const rounds, perRound = 4, 24
	numbers := make(map[string]tenant.MemberID)
	for round := range rounds {
		class := w.newSession(func(in *session.Input) { in.Capacity = new(perRound) })
		for range perRound {
			number := fmt.Sprintf("+49151%08d", len(numbers))
			numbers[number] = w.newSMSMember(number, class)
		}
		if round == rounds-1 {
			break
		}
		stuck := door.set(5 + 7*round)
		p := w.startSender(binary, postgres.URL, fake, round)
		select {
		case <-stuck:
		case <-time.After(waitTimeout):
			t.Fatalf("messages do not leave:\n%s", p.out)
		}
		p.signal(t, syscall.SIGKILL)
	}
	door.set(1 << 30)
	last := w.startSender(binary, postgres.URL, fake, rounds)
	conn := expect.Value(pgx.Connect(w.ctx(), postgres.URL))(w.t)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	count := func(sql string, args ...any) (n int) {
		t.Helper()
		w.ok(conn.QueryRow(w.ctx(), sql, args...).Scan(&n))
		return n
	}
	// The notices of a booking are planned together: a member with one has all.
	eventually(t, "all notices are done", func() bool {
		return count(`select count(*) from (
			select from notices where tenant_id = $1 and topic = 'BOOKING_CONFIRMED' and member_id = any($2)
			group by member_id having bool_and(done_at is not null)) settled`,
			w.ID.String(), slices.Collect(maps.Values(numbers))) == len(numbers)
	})
	last.signal(t, syscall.SIGTERM)

	got, doubles := make(map[string]int), 0
	for _, m := range fake.Messages() {
		got[m.To]++
		callback := expect.Value(url.Parse(m.StatusCallback))(w.t)
		test.EqOp(t, 1, count(
			`select count(*) from deliveries where tenant_id = $1 and id = $2`, w.ID.String(), callback.Query().Get("delivery"),
		),
			test.Sprintf("the delivery log has no line for %s", callback))
	}
	for number, caller := range numbers {
		duplicates := count(
			`select count(*) from deliveries where tenant_id = $1 and member_id = $2 and channel = 'SMS' and possible_duplicate`,
			w.ID.String(), caller.String(),
		)
		dropped := count(`
			select count(*) from deliveries
			where tenant_id = $1 and member_id = $2 and status = 'DROPPED' and reason = 'POSSIBLY_SENT'`,
			w.ID.String(), caller.String())
		test.False(t, got[number] == 0 && dropped == 0, test.Sprintf("%s got no message", number))
		doubles += max(0, got[number]-1)
		test.True(
			t, got[number]-1 <= duplicates,
			test.Sprintf("%s got %d messages, and the log has %d", number, got[number], duplicates+1),
		)
	}
	test.NotEqOp(t, 0, doubles, test.Sprint("nothing was on its way when the server was killed"))
	t.Logf("%d messages for %d people, %d of them for the second time", len(fake.Messages()), len(numbers), doubles)
}

// newSMSMember creates a member who gets only SMS about bookings, and books for them.
func (w *world) newSMSMember(number string, in tenant.SessionID) tenant.MemberID {
	w.t.Helper()
	m := expect.Value(w.app.Accounts.CreateMember(
		w.ctx(), w.owner, member.Member{Subject: unique(), Name: unique(), Phone: number},
	))(w.t)
	caller := tenant.Caller{Tenant: w.ID, Subject: m.Subject, Member: m.ID, Roles: m.Roles}
	expect.OK(w.t)(w.app.Messages.UpdateNotificationPreferences(w.ctx(), caller,
		messages.PreferencesEdit{Chosen: notify.Preferences{
			{Topic: notify.BookingConfirmed, Channel: delivery.SMS}:   true,
			{Topic: notify.BookingConfirmed, Channel: delivery.Email}: false,
		}}))
	expect.OK(w.t)(
		w.app.Bookings.Book(w.ctx(), caller, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online}),
	)
	return m.ID
}

// startSender runs a server that sends, after this number of killed ones. On its clock their attempts count as lost.
func (w *world) startSender(binary, database string, fake *twiliotest.Server, killed int) *process {
	w.t.Helper()
	p := startProcess(w.t, binary, "serve", "--database-url", database, "--data", w.live.data, "--listen", "127.0.0.1:0",
		"--log-format", "text",
		"--clock-offset", (time.Duration(killed) * 3 * time.Minute).String(), "--twilio-account", fake.AccountSID,
		"--twilio-token", fake.AuthToken,
		"--twilio-from", "+15005550006", "--twilio-url", fake.URL,
		"--max-sms", "0") // what may have been sent counts toward the limit, and depends on when the server is killed
	p.out.after(w.t, "address=")
	return p
}

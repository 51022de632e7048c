package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"

	"github.com/shoenig/test/must"
)

// instant is a provider that takes everything at once.
type instant struct{}

func (instant) Send(_ context.Context, m delivery.Message) (delivery.Receipt, error) {
	return delivery.Receipt{ProviderID: m.ID.String(), Status: delivery.Sent, Segments: 1}, nil
}

// BenchmarkNotices measures notices planned from events, judged, written, handed to a provider that answers at once,
// and settled: go test ./internal/worker -run '^$' -bench Notices -benchtime 5x
func BenchmarkNotices(b *testing.B) {
	const warmUp, bookings = 200, 2000
	var sent, planned int
	var planning, sending time.Duration
	for range b.N {
		b.StopTimer()
		studio := messagetest.New(b)
		dispatcher := expect.Value(worker.New(worker.Config{
			Messages: studio.App.Messages, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Platform: map[string]func(tenant.TenantID) worker.Sender{
				"twilio": func(tenant.TenantID) worker.Sender { return instant{} },
				"fcm":    func(tenant.TenantID) worker.Sender { return instant{} },
				"smtp":   func(tenant.TenantID) worker.Sender { return instant{} },
				"local":  func(tenant.TenantID) worker.Sender { return instant{} },
			},
		}))(studio.T)
		class := studio.SessionAt(testkit.Noon.Add(72*time.Hour), func(in *session.Input) { in.Unlimited = true })
		exec := func(sql string, args ...any) {
			expect.OK(studio.T)(studio.DB.Owner.Exec(studio.T.Context(), sql, args...))
		}
		// By SQL, because thousands of use cases would take longer than what is measured.
		book := func(i int) {
			member, booking := tenant.New[tenant.MemberID](testkit.Noon), tenant.New[tenant.BookingID](testkit.Noon)
			exec(`insert into members (tenant_id, id, name, name_key, email, created_at, updated_at)
				values ($1, $2, $3, lower($3), $4, $5, $5)`,
				studio.Tenant, member, "Member", fmt.Sprintf("m%d@example.com", i), testkit.Noon)
			exec(`insert into devices (tenant_id, id, member_id, kind, token, token_hash, created_at, seen_at) values ($1, $2,
				$3, 'IOS', $4::text, sha256($4::text::bytea), $5, $5)`,
				studio.Tenant, tenant.New[tenant.DeviceID](testkit.Noon), member, fmt.Sprint("token", i), testkit.Noon)
			exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at,
				created_by, created_at, updated_at)
				values ($1, $2, $3, $4, 1, 'CONFIRMED', 'ONLINE', $5, $5::timestamptz + interval '1 hour', 'x', $6, $6)`,
				studio.Tenant, booking, class, member, testkit.Noon.Add(72*time.Hour), testkit.Noon)
			exec(`insert into events (tenant_id, id, type, session_id, booking_id, member_id, actor, occurred_at) values ($1,
				$2, 'booking.confirmed', $3, $4, $5, 'x', $6)`,
				studio.Tenant, tenant.New[tenant.EventID](testkit.Noon), class, booking, member, testkit.Noon)
		}
		plan := func() {
			for more := true; more; {
				more = expect.Value(
					outbox.Consume(studio.T.Context(), studio.DB.DB, studio.Tenant, studio.App.Messages.NoticeConsumer()),
				)(studio.T).More
			}
		}
		// The planner needs statistics of tables with rows, as in a database that has sent messages before.
		for i := range warmUp {
			book(i)
		}
		plan()
		studio.NoError(dispatcher.Deliver(studio.T.Context(), studio.Tenant))
		for i := range bookings {
			book(warmUp + i)
		}
		before := studio.Count(`select count(*) from notices`)
		exec(`analyze`)
		b.StartTimer()
		begun := time.Now()
		plan()
		planning += time.Since(begun)
		begun = time.Now()
		studio.NoError(dispatcher.Deliver(studio.T.Context(), studio.Tenant))
		sending += time.Since(begun)
		b.StopTimer()
		planned += studio.Count(`select count(*) from notices`) - before
		n := studio.Count(`select count(*) from deliveries where status = 'SENT'`) - 2*warmUp
		sent += n
		must.True(b, n == 2*bookings, must.Sprintf("%d sent", n))
		b.StartTimer()
	}
	b.ReportMetric(float64(planned)/planning.Seconds(), "planned/s")
	b.ReportMetric(float64(sent)/sending.Seconds(), "sent/s")
	b.ReportMetric(float64(sent)/(planning+sending).Seconds(), "through/s")
}

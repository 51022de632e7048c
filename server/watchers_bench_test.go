package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// BenchmarkWatchers measures the time from the start of an event's transaction until 2,000 watchers of one node and one
// tenant have received it over gRPC. The watchers run on the same machine. An operation is one event, delivered to all
// watchers or to the one member that it is about; then the others only wake up. With a pace, events follow at that
// interval without waiting for deliveries.
//
//	go test ./server -run '^$' -bench Watchers -benchtime 200x
func BenchmarkWatchers(b *testing.B) {
	b.Run("all see all", func(b *testing.B) { benchWatchers(b, tenant.RoleCoach, 0) })
	b.Run(
		"all see all, 100 events a second", func(b *testing.B) { benchWatchers(b, tenant.RoleCoach, 10*time.Millisecond) },
	)
	b.Run("each sees their own", func(b *testing.B) { benchWatchers(b, tenant.RoleMember, 0) })
}

const (
	benchWatching = 2000
	// A client's connection takes 1,000 streams; real watchers have one each.
	benchStreams = 100
)

func benchWatchers(b *testing.B, role string, pace time.Duration) {
	b.Helper()
	live := newLive(b)
	created := expect.Value(live.App.Accounts.CreateTenant(b.Context(), accounts.NewTenant{
		Name: "Bench", TimeZone: "UTC", Locale: "en", Currency: "EUR",
	}))(b)
	in := created.ID
	// By SQL, because thousands of use cases would take long.
	for _, sql := range []string{
		fmt.Sprintf(`
insert into members (tenant_id, id, subject, name, name_key, created_at, updated_at)
select $1, ('00000000-0000-7000-b000-' || lpad(to_hex(n), 12, '0'))::uuid, 'bench-' || n, 'Bench ' || n, 'bench ' || n,
  now(), now()
from generate_series(0, %d) n`, benchWatching-1),
		fmt.Sprintf(`
insert into member_roles (tenant_id, member_id, role, created_at)
select $1, id, '%s', now() from members where tenant_id = $1`, role),
	} {
		expect.OK(b)(live.DB.Owner.Exec(b.Context(), sql, in))
	}
	ctx, stop := context.WithCancel(b.Context())
	delivered := make(chan time.Duration, benchWatching)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	var ready sync.WaitGroup
	var client berthv1connect.EventServiceClient
	for i := range benchWatching {
		if i%benchStreams == 0 {
			protocols := new(http.Protocols)
			protocols.SetUnencryptedHTTP2(true)
			client = berthv1connect.NewEventServiceClient(
				&http.Client{Transport: &http.Transport{Protocols: protocols}}, "http://"+live.Address, connect.WithGRPC(),
			)
		}
		raw := live.Token(b, fmt.Sprintf("bench-%d", i), in)
		ready.Add(1)
		watching.Go(func() {
			stream, err := client.WatchEvents(ctx, as(raw, &v1.WatchEventsRequest{}))
			if err != nil {
				b.Error(err)
				ready.Done()
				return
			}
			defer stream.Close()
			for first := true; stream.Receive(); first = false {
				if first {
					ready.Done()
				}
				now := time.Now()
				for _, e := range stream.Msg().GetEvents() {
					delivered <- now.Sub(e.GetOccurTime().AsTime())
				}
			}
		})
	}
	ready.Wait()

	deliveries := 1
	if role != tenant.RoleMember {
		deliveries = benchWatching
	}
	took := make([]time.Duration, 0, b.N*deliveries)
	collect := func() {
		for range deliveries {
			took = append(took, <-delivered)
		}
	}
	var collecting sync.WaitGroup
	if pace > 0 {
		collecting.Go(func() {
			for range b.N {
				collect()
			}
		})
	}
	before := cpuTime(b)
	b.ResetTimer()
	for n := range b.N {
		now := time.Now()
		e := outbox.Event{
			ID: tenant.New[tenant.EventID](now), Data: event.BookingConfirmed{}, Session: tenant.New[tenant.SessionID](now),
			Booking: tenant.New[tenant.BookingID](now),
			Member:  tenant.MustParse[tenant.MemberID](fmt.Sprintf("00000000-0000-7000-b000-%012x", n%benchWatching)),
			Actor:   "system", At: now,
		}
		must.NoError(b, live.Node.DB.InTx(ctx, pg.Scope{Tenant: in}, "bench", func(_ context.Context, tx *pg.Tx) error {
			outbox.Append(tx, in, e)
			return nil
		}))
		live.Relay.NotifyCommit(in)
		if pace == 0 {
			collect()
			continue
		}
		next := time.NewTimer(pace - time.Since(now))
		select {
		case <-next.C:
		case <-ctx.Done():
			b.Fatal(ctx.Err())
		}
	}
	collecting.Wait()
	b.StopTimer()
	b.ReportMetric((cpuTime(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
	slices.Sort(took)
	for _, q := range []int{50, 99} {
		b.ReportMetric(float64(took[(len(took)-1)*q/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", q))
	}
}

// cpuTime is the processor time of this process, including the watchers. Other load on the machine does not affect it.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	must.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

package alarm

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/tenant"
)

// An alarm goes off once, at the earliest time that it was set for, and can be set again then.
func TestClock_RingsWhenDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var a Clock
		begun, one, two := time.Now(), tenant.TenantID{UUID: tenant.UUID{1}}, tenant.TenantID{UUID: tenant.UUID{2}}
		rung := make(chan string, 10)
		ctx, stop := context.WithCancel(t.Context())
		ended := false
		go func() {
			again := true
			a.Run(ctx, time.Now, 1, func(id tenant.TenantID) {
				rung <- map[tenant.TenantID]string{one: "one ", two: "two "}[id] + time.Since(begun).String()
				<-time.After(time.Hour) // it takes long to handle
				if again {
					again = false
					a.Set(id, begun.Add(50*time.Hour))
				}
			})
			ended = true
		}()
		for _, set := range []struct {
			id    tenant.TenantID
			after time.Duration
		}{{one, time.Hour}, {one, 2 * time.Hour}, {two, 30 * time.Minute}, {one, 10 * time.Minute}, {two, 30 * time.Minute}} {
			synctest.Wait() // until it sleeps
			a.Set(set.id, begun.Add(set.after))
		}
		for _, want := range []string{"one 10m0s", "two 1h10m0s", "one 50h0m0s"} {
			test.EqOp(t, want, <-rung)
		}
		a.Set(one, begun) // both are overdue, and handled one by one
		a.Set(two, begun)
		for _, want := range []string{"51h0m0s", "52h0m0s"} {
			test.StrHasSuffix(t, want, <-rung)
		}
		<-time.After(2 * time.Hour)
		a.Set(one, begun.Add(55*time.Hour))
		synctest.Wait()
		a.Set(two, begun)
		for _, want := range []string{"two 54h0m0s", "one 55h0m0s"} {
			test.EqOp(t, want, <-rung)
		}
		<-time.After(time.Hour)
		synctest.Wait()
		test.EqOp(t, 0, len(rung))
		_, wait := a.Next(time.Now())
		test.EqOp(t, 24*time.Hour, wait)
		stop()
		synctest.Wait()
		test.True(t, ended)
	})
}

// Errors are logged with their tenant, until the end.
func TestLogging_EndsWithContext(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	ctx, stop := context.WithCancel(t.Context())
	fails := tenant.TenantID{UUID: tenant.UUID{1}}
	ring := Logging(ctx, slog.New(slog.NewTextHandler(&logged, nil)), "failed", func(id tenant.TenantID) error {
		return map[tenant.TenantID]error{fails: context.Canceled}[id]
	})
	ring(tenant.TenantID{})
	ring(fails)
	stop()
	ring(fails)
	test.EqOp(t, 1, strings.Count(logged.String(), "level=ERROR msg=failed tenant_id="+fails.String()+" error="))
	test.EqOp(t, 1, strings.Count(logged.String(), "\n"))
}

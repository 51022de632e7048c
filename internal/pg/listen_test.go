package pg_test

import (
	"context"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
)

func TestListen_ReconnectsAfterLostConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, stop := context.WithCancel(t.Context())
	connected, heard, ended := make(chan struct{}), make(chan string), make(chan error, 1)
	go func() {
		ended <- b.Listen(ctx, "Odd \"channel\"",
			func(payload string) { heard <- payload }, func() { connected <- struct{}{} })
	}()
	var got []string
	for _, payload := range []string{"before", "after"} {
		<-connected
		must.NoError(t, b.inTx(t, func(_ context.Context, tx *pg.Tx) error {
			tx.Notify("Odd \"channel\"", payload)
			return nil
		}))
		got = append(got, <-heard)
		b.exec(t, `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and query like 'listen %'`)
	}
	<-connected
	test.Eq(t, []string{"before", "after"}, got)
	stop()
	test.ErrorIs(t, <-ended, context.Canceled)
}

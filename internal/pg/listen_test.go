package pg_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestListen_ReconnectsAfterLostConnection(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	var n pgtest.Network
	n.Break(pgtest.Cut{Text: "listen "}) // the first attempt fails
	b := setup(t, n.Use, func(c *pg.Config) { c.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
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
	test.EqOp(t, 2, strings.Count(logged.String(), "57P01"), test.Sprint(&logged))
	test.StrContains(t, logged.String(), net.ErrClosed.Error())
}

// While there is no server, it tries again and again, and says why.
func TestListen_SaysWhyItCannot(t *testing.T) {
	t.Parallel()
	lines, to := io.Pipe()
	nowhere := expect.Value(pg.Open(t.Context(), pg.Config{
		URL: "postgres://127.0.0.1:1/none?sslmode=disable", Logger: slog.New(slog.NewTextHandler(to, nil)),
	}))(t)
	defer nowhere.Close()
	go func() { _ = nowhere.Listen(t.Context(), "none", nil, nil) }()
	read := bufio.NewScanner(lines)
	for range 3 {
		must.True(t, read.Scan())
		test.StrContains(t, read.Text(), "connection refused")
	}
}

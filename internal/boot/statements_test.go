package boot

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// The log shows the statements of a request without what they are about, also if the database's error quotes it.
func TestStatementLog_HasNoParameters(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	log := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	db := pgtest.New(t, func(c *pg.Config) { c.Tracer = pg.LogStatements(t.Context(), log, requestAttrs) })
	ctx := request.WithCall(t.Context(), &request.Call{ID: "abc-1"})
	scope := pg.Scope{Tenant: tenant.New[tenant.TenantID](time.Now())}
	for sql, fails := range map[string]bool{"select\n  $1::text": false, "select ($1::text)::int": true} {
		err := db.InTx(ctx, scope, "test", func(_ context.Context, tx *pg.Tx) error {
			tx.Write(sql, "a secret")
			return nil
		})
		test.EqOp(t, fails, err != nil, test.Sprint(sql, ": ", err))
	}
	got := lines.String()
	test.StrContains(t, got, `msg=statement request_id=abc-1 sql="select $1::text" rows=1`)
	test.StrContains(t, got, `sql="select ($1::text)::int" rows=0 sqlstate=22P02`)
	test.StrContains(t, got, `msg="round trip" request_id=abc-1 statements=`)
	test.StrNotContains(t, got, "a secret")
	test.StrNotContains(t, got, scope.Tenant.String())
}

func TestStatementLog_IsOffUnlessTheLogShowsIt(t *testing.T) {
	t.Parallel()
	test.Nil(t, pg.LogStatements(t.Context(), slog.New(slog.NewTextHandler(new(bytes.Buffer), nil)), requestAttrs))
}

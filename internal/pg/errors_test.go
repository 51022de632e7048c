package pg_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
)

// Errors are told apart by their code and their constraint, and never by their words.
func TestErrors_AreClassifiedByCodeAndConstraint(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(error, ...string) bool{
		"23505": pg.IsUnique, "23514": pg.IsCheck, "23P01": pg.IsExclusion, "23503": pg.IsForeignKey,
	}
	for code := range kinds {
		err := fmt.Errorf("book: %w", &pgconn.PgError{
			Code: code, ConstraintName: "seats", Message: "23505 23514 23P01 23503",
		})
		test.EqOp(t, code, pg.Code(err))
		for other, is := range kinds {
			got := []bool{is(err), is(err, "beds", "seats"), is(err, "beds")}
			test.Eq(t, []bool{other == code, other == code, false}, got, test.Sprint(code, " is ", other))
		}
	}
	for _, err := range []error{nil, errors.New("23505")} {
		test.EqOp(t, "", pg.Code(err), test.Sprintf("%v has a code", err))
		test.False(t, pg.IsUnique(err), test.Sprintf("%v has a code", err))
	}
}

// A database that does not answer is told from one that fails, and from one that refuses.
func TestErrors_TellOutagesFromFailures(t *testing.T) {
	t.Parallel()
	coded := func(code, severity string) error {
		return fmt.Errorf("book: %w", &pgconn.PgError{Code: code, SeverityUnlocalized: severity})
	}
	for name, tt := range map[string]struct {
		err                 error
		unreachable, failed bool
	}{
		"it is starting":       {coded("57P03", "FATAL"), true, false},
		"it was told to stop":  {coded("57P01", "FATAL"), true, false},
		"connection exception": {coded("08006", "ERROR"), true, false},
		"too many clients":     {coded("53300", "FATAL"), true, true},
		"out of memory":        {coded("53200", "ERROR"), false, true},
		"input or output":      {coded("58030", "ERROR"), false, true},
		"internal":             {coded("XX000", "ERROR"), false, true},
		"corrupted":            {coded("XX001", "ERROR"), false, false},
		"cancelled":            {coded("57014", "ERROR"), false, false},
		"wrong password":       {coded("28P01", "FATAL"), false, false},
		"refused":              {coded("23505", "ERROR"), false, false},
		"a pooler says no":     {coded("", ""), false, false},
		"a pooler hangs up":    {coded("", "FATAL"), true, false},
		"it crashed":           {coded("", "PANIC"), true, false},
		"network":              {&net.OpError{Op: "dial", Err: errors.New("refused")}, true, false},
		"hung up":              {fmt.Errorf("book: %w", io.EOF), true, false},
		"cut off":              {fmt.Errorf("book: %w", io.ErrUnexpectedEOF), true, false},
		"left":                 {context.Canceled, false, false},
		"none":                 {nil, false, false},
	} {
		test.EqOp(t, tt.unreachable, pg.IsUnreachable(tt.err), test.Sprint(name))
		test.EqOp(t, tt.failed, pg.IsServerFailure(tt.err), test.Sprint(name))
	}
}

package pg_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
)

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
			if got, want := is(err), other == code; got != want {
				t.Errorf("%s is classified as %s: %t", code, other, got)
			}
			if got, want := is(err, "beds", "seats"), other == code; got != want {
				t.Errorf("%s on seats is classified as %s: %t", code, other, got)
			}
			test.False(t, is(err, "beds"), test.Sprintf("%s: the constraint's name is ignored", other))
		}
	}
	for _, err := range []error{nil, errors.New("23505")} {
		test.True(t, pg.Code(err) == "" && !pg.IsUnique(err), test.Sprintf("%v has a code", err))
	}
}

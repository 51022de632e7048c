package engine_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
)

func TestOutage_NamesWhatTheDatabaseDid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err     error
		reason  fault.Reason
		outcome string
	}{
		"commit unknown":  {fmt.Errorf("make: %w: %w", pg.ErrCommitUnknown, errors.New("reset")), fault.Timeout, "unknown"},
		"statement limit": {fmt.Errorf("make: %w", &pgconn.PgError{Code: "57014"}), fault.Timeout, ""},
		"it is starting": {
			fmt.Errorf("connect: %w", &pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P03"}),
			fault.Timeout, "",
		},
		"it hung up":   {fmt.Errorf("make: %w", io.ErrUnexpectedEOF), fault.Timeout, ""},
		"no room":      {fmt.Errorf("make: %w", &pgconn.PgError{Code: "53100"}), fault.Contention, ""},
		"a disk fails": {&pgconn.PgError{Code: "58030"}, fault.Contention, ""},
		"out of order": {&pgconn.PgError{Code: "XX000"}, fault.Contention, ""},
		"damaged data": {&pgconn.PgError{Code: "XX001"}, "", ""},
		"out of order at a commit": {
			fmt.Errorf("%w: %w", pg.ErrCommitUnknown, &pgconn.PgError{Code: "XX000"}), fault.Timeout, "unknown",
		},
		"wrong password": {&pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "28P01"}, "", ""},
		"a bug":          {&pgconn.PgError{Code: "42601"}, "", ""},
		"committed":      {pg.ErrCommitted, "", ""},
		"nothing":        {nil, "", ""},
	} {
		f := engine.Outage(tc.err)
		if f == nil {
			test.EqOp(t, "", tc.reason, test.Sprintf("%s is none", name))
			continue
		}
		test.EqOp(t, tc.reason, f.Reason, test.Sprintf("%s is %v with %v", name, f, f.Metadata))
		test.EqOp(t, tc.outcome, f.Metadata["outcome"], test.Sprintf("%s is %v with %v", name, f, f.Metadata))
		test.ErrorIs(t, f, tc.err, test.Sprintf("%s is %v with %v", name, f, f.Metadata))
	}
}

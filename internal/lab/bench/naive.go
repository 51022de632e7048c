package bench

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// naiveClient books as a first version would: one statement after the other, counting rows to see whether there is
// room, with a retry on a conflict. It is as safe as the service, and is what the service is compared with.
type naiveClient struct {
	pool      *pgxpool.Pool
	conflicts *atomic.Int64
}

func (b *testbed) openNaive(ctx context.Context) (*naiveClient, error) {
	config, err := pgxpool.ParseConfig(b.postgres.URL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = pgbenchConns
	config.ConnConfig.RuntimeParams["role"] = pg.DefaultRole
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &naiveClient{pool, &b.conflicts}, nil
}

var errNaiveFull = fault.New(fault.FailedPrecondition, fault.SessionFull, "The session is full.")

func (c *naiveClient) book(ctx context.Context, target seat) (string, error) {
	return "", c.bookFor(ctx, numberedID("9000", target.session), numberedID("b000", target.member))
}

func (c *naiveClient) bookFor(ctx context.Context, session, member string) error {
	for attempt := 1; ; attempt++ {
		err := pgx.BeginTxFunc(ctx, c.pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
			return naiveBooking(ctx, tx, session, member)
		})
		if code := pg.Code(err); code != "40001" && code != "40P01" {
			return err
		}
		c.conflicts.Add(1)
		if pause(ctx, rand.N(time.Millisecond<<min(attempt, 7))) != nil {
			return ctx.Err()
		}
	}
}

func naiveBooking(ctx context.Context, tx pgx.Tx, session, member string) error {
	in, now := tenantID(naiveTenant).String(), time.Now()
	if _, err := tx.Exec(ctx, `select set_config('app.tenant_id', $1, true)`, in); err != nil {
		return err
	}
	var capacity *int
	var state string
	var starts, ends time.Time
	if err := tx.QueryRow(ctx, `
select capacity, state, starts_at, ends_at from sessions where tenant_id = $1 and id = $2`, in, session).
		Scan(&capacity, &state, &starts, &ends); err != nil {
		return err
	}
	var name, subscription string
	if err := tx.QueryRow(ctx, `select name from members where tenant_id = $1 and id = $2`, in, member).
		Scan(&name); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, `
select u.id from subscriptions u join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.member_id = $2 and u.status = 'ACTIVE'`, in, member).Scan(&subscription); err != nil {
		return err
	}
	var taken, mine int
	if err := tx.QueryRow(ctx, `
select count(*), count(*) filter (where member_id = $3) from bookings
where tenant_id = $1 and session_id = $2 and status in ('PENDING', 'CONFIRMED', 'ATTENDED')`, in, session, member).
		Scan(&taken, &mine); err != nil {
		return err
	}
	if capacity != nil && taken >= *capacity || mine > 0 {
		return errNaiveFull
	}
	id := tenant.New[tenant.BookingID](now)
	if _, err := tx.Exec(ctx, `
insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, subscription_id,
  starts_at, ends_at, created_by, created_at, updated_at, confirmed_at)
values ($1, $2, $3, $4, 1, 'CONFIRMED', 'ONLINE', $5, $6, $7, $4::uuid::text, $8, $8, $8)`,
		in, id.String(), session, member, subscription, starts, ends, now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
insert into events (tenant_id, id, type, session_id, booking_id, member_id, actor, occurred_at)
values ($1, $2, 'booking.confirmed', $3, $4, $5, $5::uuid::text, $6)`,
		in, tenant.New[tenant.EventID](now).String(), session, id.String(), member, now)
	return err
}

// naiveService answers Book for the subject of a token. It checks no roles.
type naiveService struct {
	berthv1connect.UnimplementedBookingServiceHandler

	client   *naiveClient
	verifier *token.Verifier
}

func (c *naiveClient) handler(verifier *token.Verifier) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(berthv1connect.NewBookingServiceHandler(
		&naiveService{client: c, verifier: verifier}, connect.WithCompressMinBytes(1<<10)))
	return mux
}

func (s *naiveService) Book(
	ctx context.Context, req *connect.Request[v1.BookRequest],
) (*connect.Response[v1.BookResponse], error) {
	raw, _ := strings.CutPrefix(req.Header().Get("Authorization"), "Bearer ")
	target, err := s.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, connect.NewError(connect.CodeUnauthenticated, err)
	}
	member, err := strconv.Atoi(strings.TrimPrefix(target.Subject, subjectPrefix))
	if err != nil {
		return nil, connect.NewError(connect.CodePermissionDenied, err)
	}
	err = s.client.bookFor(ctx, req.Msg.GetSessionId(), numberedID("b000", member))
	switch {
	case fault.ReasonOf(err) == fault.SessionFull:
		return nil, fullError()
	case err != nil:
		return nil, connect.NewError(connect.CodeInternal, err)
	}
	return connect.NewResponse(&v1.BookResponse{}), nil
}

package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/lab/bench/report"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// seat is a booking to make: numbers of a tenant, a session and a member.
type seat struct{ tenant, session, member int }

// client makes bookings in one of the ways that are compared.
type client interface {
	book(ctx context.Context, target seat) (booking string, err error)
}

// wideClient can do everything that a mixed load does in the main tenant.
type wideClient interface {
	client
	cancel(ctx context.Context, member int, booking string) error
	week(ctx context.Context, member int, week civil.Span) error
	roster(ctx context.Context, session int) error
	describe(ctx context.Context, session int, text string) error
}

// weekPageSize is how many sessions a week page shows.
const weekPageSize = 300

// staffMember is the admin of the tenant.
const staffMember = memberCount

const subjectPrefix = "bench-"

// open returns the client of a case.
func (b *testbed) open(ctx context.Context, c report.Case, what work) (_ client, closeClient func(), err error) {
	switch c.Via {
	case report.GRPC, report.Connect, report.JSON:
		return b.openNetwork(ctx, c, what, b.address)
	case report.NaiveGRPC:
		address, closeServer, err := b.serveNaive(ctx)
		if err != nil {
			return nil, nil, err
		}
		d, closeConns, err := b.openNetwork(ctx, c, what, address)
		if err != nil {
			closeServer()
			return nil, nil, err
		}
		return d, func() { closeConns(); closeServer() }, nil
	case report.Naive:
		naive, err := b.openNaive(ctx)
		if err != nil {
			return nil, nil, err
		}
		return naive, naive.pool.Close, nil
	case report.Mutex:
		if b.single == nil {
			const lanes = 1024 // so many that no request waits for a lane: those that wait share a transaction
			if b.single, err = b.openOther(ctx, lanes); err != nil {
				return nil, nil, err
			}
		}
		return &mutexClient{directClient: directClient{[]*app.Services{b.single.app}}}, func() {}, nil
	default:
		nodes, err := b.nodes(ctx, c.Nodes)
		return directClient{nodes}, func() {}, err
	}
}

// directClient calls the use cases in the same process, behind tokens and roles.
type directClient struct{ nodes []*app.Services }

func callerOf(in, member int) tenant.Caller {
	role := tenant.RoleMember
	if member == staffMember {
		role = tenant.RoleAdmin
	}
	return tenant.Caller{
		Tenant: tenantID(in), Subject: fmt.Sprint(subjectPrefix, member), Roles: []string{role},
		May: grant.PermissionsOf(role), Member: tenant.MustParse[tenant.MemberID](numberedID("b000", member)),
	}
}

func sessionID(n int) tenant.SessionID {
	return tenant.MustParse[tenant.SessionID](numberedID("9000", n))
}

func (d directClient) node(member int) *app.Services { return d.nodes[member%len(d.nodes)] }

func (d directClient) book(ctx context.Context, target seat) (string, error) {
	result, err := d.node(target.member).Bookings.Book(ctx, callerOf(target.tenant, target.member), bookings.BookRequest{
		Session: sessionID(target.session), Party: 1, Channel: catalog.Online,
	})
	if err != nil {
		return "", err
	}
	return result.Booking.ID.String(), nil
}

func (d directClient) cancel(ctx context.Context, member int, booking string) error {
	id := tenant.MustParse[tenant.BookingID](booking)
	_, err := d.node(member).Bookings.CancelBooking(ctx, callerOf(mainTenant, member), bookings.CancelRequest{ID: id})
	return err
}

func (d directClient) week(ctx context.Context, member int, week civil.Span) error {
	_, err := d.node(member).Schedules.ListSessions(ctx, callerOf(mainTenant, member), schedules.SessionQuery{
		Filter: session.Filter{From: week.Start, Until: week.End}, Limit: weekPageSize,
	})
	return err
}

func (d directClient) roster(ctx context.Context, at int) error {
	_, err := d.nodes[0].Bookings.GetSessionRoster(ctx, callerOf(mainTenant, staffMember), sessionID(at))
	return err
}

func (d directClient) describe(ctx context.Context, at int, text string) error {
	_, _, err := d.nodes[0].Schedules.UpdateSession(ctx, callerOf(mainTenant, staffMember), sessionID(at), nil,
		session.Input{Description: text}, session.DescriptionField)
	return err
}

// mutexClient is a common advice for contended rows: a mutex for each session, so that bookings of a session run one at
// a time. Each booking has a transaction of its own.
type mutexClient struct {
	directClient

	sessions [sessionCount]sync.Mutex
}

func (c *mutexClient) book(ctx context.Context, target seat) (string, error) {
	c.sessions[target.session].Lock()
	defer c.sessions[target.session].Unlock()
	return c.directClient.book(ctx, target)
}

// aWeek returns a week of those two that have sessions. It can start on any of seven days.
func aWeek(day int) civil.Span {
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 3+day%7)
	return civil.Span{Start: start, End: start.AddDate(0, 0, 7)}
}

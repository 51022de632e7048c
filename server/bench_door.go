package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// door opens the way to work that a case names.
func (h *benchHouse) door(ctx context.Context, c benchCase, what work) (_ door, closeDoor func(), err error) {
	switch c.Door {
	case "grpc":
		return h.openGRPC(ctx, c, what)
	case "naive":
		naive, err := openNaive(ctx, h.postgres.URL, benchConns)
		if err != nil {
			return nil, nil, err
		}
		return naive, naive.pool.Close, nil
	default:
		nodes := []*app.App{h.app}
		for _, other := range h.others {
			nodes = append(nodes, other.app)
		}
		return &directDoor{nodes}, func() {}, nil
	}
}

// numberedID is what numbered gives, as text.
func numberedID(group string, n int) string {
	return fmt.Sprintf("00000000-0000-7000-%s-%012x", group, n)
}

func benchSubject(member int) string { return fmt.Sprintf("bench-%d", member) }

// directDoor books in the same process, behind token and role.
type directDoor struct{ nodes []*app.App }

func (d *directDoor) turn(ctx context.Context, session, member int) error {
	who := tenant.MustParse[tenant.MemberID](numberedID("b000", member))
	caller := tenant.Caller{Tenant: benchTenant, Subject: benchSubject(member), Member: who, Roles: []string{tenant.RoleMember}}
	_, err := d.nodes[member%len(d.nodes)].Book(ctx, caller, app.BookRequest{
		Session: tenant.MustParse[tenant.SessionID](numberedID("9000", session)), Party: 1, Channel: catalog.Online,
	})
	return err
}

// grpcConns spread the callers, as a fleet of clients would be.
const grpcConns = 8

// grpcDoor works over loopback, each member with a token of their own.
type grpcDoor struct {
	conns []*grpc.ClientConn
	turns map[int]func(session string) error // by member
}

// openGRPC connects, and lets the server meet the members who come, as it would have in the course of a day: a token
// is verified once.
func (h *benchHouse) openGRPC(ctx context.Context, c benchCase, what work) (door, func(), error) {
	d := &grpcDoor{turns: make(map[int]func(string) error)}
	closeAll := func() {
		for _, conn := range d.conns {
			_ = conn.Close()
		}
	}
	for range min(c.Callers, grpcConns) {
		conn, err := grpc.NewClient("passthrough:///"+h.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		d.conns = append(d.conns, conn)
	}
	first, last := h.nextUser-c.Callers, h.nextUser
	if c.Workload != "spread" {
		first, last = ownMembers, benchMembers
	}
	for member := first; member < last; member++ {
		if err := d.meet(ctx, h, what, member); err != nil {
			closeAll()
			return nil, nil, err
		}
	}
	return d, closeAll, nil
}

func (d *grpcDoor) meet(ctx context.Context, h *benchHouse, what work, member int) error {
	raw, _, err := h.issuer.Issue(token.Grant{Subject: benchSubject(member), Tenants: []tenant.TenantID{benchTenant}}, time.Hour)
	if err != nil {
		return err
	}
	if _, err := h.verifier.Verify(ctx, raw); err != nil {
		return err
	}
	as := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+raw)
	d.turns[member], err = what.begin(as, d.conns[member%len(d.conns)])
	return err
}

func (d *grpcDoor) turn(_ context.Context, session, member int) error {
	return d.turns[member](numberedID("9000", session))
}

// grpcReason is the reason that an error gives over the wire; empty for none.
func grpcReason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.Reason
		}
	}
	return ""
}

func (h *benchHouse) exec(ctx context.Context, sql string, args ...any) error {
	conn, err := pgx.Connect(ctx, h.postgres.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql, args...)
	return err
}

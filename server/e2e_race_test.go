package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// newTokens imports members and returns their tokens.
func (w *world) newTokens(n int) []string {
	w.t.Helper()
	var file strings.Builder
	file.WriteString("name,subject\n")
	tokens := make([]string, n)
	for i := range tokens {
		name := unique()
		fmt.Fprintf(&file, "%s,%s\n", name, name)
		tokens[i] = w.token(name)
	}
	owner := w.token(tenant.RoleOwner)
	started := call[*v1.ImportMembersResponse](
		w.t, w.live, owner, "MemberService/ImportMembers", &v1.ImportMembersRequest{Csv: []byte(file.String())},
	)
	eventually(w.t, "the members are imported", func() bool {
		got := call[*v1.GetImportResponse](w.t, w.live, owner, "ImportService/GetImport",
			&v1.GetImportRequest{ImportId: started.GetFileImport().GetId()})
		return got.GetFileImport().GetStatus() == v1.ImportStatus_IMPORT_STATUS_SUCCEEDED
	})
	return tokens
}

// rush lets all members book one seat at the same moment, over several connections and also through other nodes.
func (w *world) rush(tokens []string, in tenant.SessionID, others ...*liveNode) []rushResult {
	w.t.Helper()
	p, hello := procedureNamed(w.t, "BookingService/Book"), procedureNamed(w.t, "TenantService/GetTenant")
	nodes := append([]*liveNode{w.live}, others...)
	conns := make([]*grpc.ClientConn, 8)
	var known sync.WaitGroup
	for i := range conns {
		conns[i] = dial(w.t, nodes[i%len(nodes)].Address)
		known.Go(func() { // then the connection is open, and its node has cached the roles
			for n := i; n < len(tokens); n += len(conns) {
				_, err := invoke(withToken(w.ctx(), tokens[n]), conns[i], hello, &v1.GetTenantRequest{})
				test.True(w.t, err == nil, test.Sprintf("before the rush: %v", err))
			}
		})
	}
	known.Wait()
	all := make([]rushResult, len(tokens))
	start := make(chan struct{})
	var done sync.WaitGroup
	for i, raw := range tokens {
		done.Go(func() {
			<-start
			answer, err := invoke(withToken(w.ctx(), raw), conns[i%len(conns)], p, &v1.BookRequest{SessionId: text(in)})
			all[i].outcome = outcomeOf(answer, err)
			all[i].answer, _ = answer.(*v1.BookResponse)
		})
	}
	close(start)
	done.Wait()
	return all
}

// rushResult is the result of one booking in a rush.
type rushResult struct {
	outcome
	answer *v1.BookResponse
}

// Two hundred members book the last seats. Each seat is booked, the next ones wait in order, and the others get
// SESSION_FULL. The database agrees with the responses.
func TestRush_BooksEverySeatOnce(t *testing.T) {
	t.Parallel()
	const people, seats, queue = 200, 25, 10
	w := newWorld(t, newLive(t))
	crowd := w.newTokens(people)
	in := w.newSession(func(in *session.Input) { in.Capacity, in.WaitlistCapacity = new(seats), new(queue) })

	var booked, waiting []string
	var positions []int32
	full := 0
	for _, got := range w.rush(crowd, in) {
		switch {
		case got.Code == codes.OK && got.answer.GetBooking() != nil:
			booked = append(booked, got.answer.GetBooking().GetId())
		case got.Code == codes.OK:
			waiting, positions = append(
				waiting, got.answer.GetEntry().GetId(),
			), append(positions, got.answer.GetEntry().GetPosition())
		case got.Reason == "SESSION_FULL":
			full++
		default:
			t.Errorf("%s", got)
		}
	}
	test.SliceLen(t, seats, booked,
		test.Sprintf("%d booked, %d wait, %d were refused", len(booked), len(waiting), full))
	test.SliceLen(t, queue, waiting,
		test.Sprintf("%d booked, %d wait, %d were refused", len(booked), len(waiting), full))
	test.EqOp(t, people-seats-queue, full,
		test.Sprintf("%d booked, %d wait, %d were refused", len(booked), len(waiting), full))
	slices.Sort(positions)
	for i, position := range positions {
		must.EqOp(t, i+1, int(position), must.Sprintf("positions in the queue: %v", positions))
	}
	roster := call[*v1.GetSessionRosterResponse](
		t,
		w.live,
		w.token(tenant.RoleOwner),
		"BookingService/GetSessionRoster",
		&v1.GetSessionRosterRequest{SessionId: text(in)},
	)
	sameIDs(t, "bookings", booked, roster.GetBookings())
	sameIDs(t, "entries", waiting, roster.GetEntries())
	test.EqOp(t, seats, roster.GetSeatsTaken(), test.Sprintf("%d seats are taken", roster.GetSeatsTaken()))
	w.live.verify(t)
}

// sameIDs fails if the ids in responses are not those in the roster.
func sameIDs[M interface{ GetId() string }](t *testing.T, what string, responses []string, roster []M) {
	t.Helper()
	var ids []string
	for _, one := range roster {
		ids = append(ids, one.GetId())
	}
	slices.Sort(ids)
	slices.Sort(responses)
	test.SliceEqOp(t, ids, responses, test.Sprintf("%s: responses %v, roster %v", what, responses, ids))
}

// Negative control: without serializable transactions and the check on seats, which are the two guards, the same rush
// overbooks the session. It takes two nodes: a single node runs the bookings of a session in order.
func TestRush_OverbooksWithoutGuards(t *testing.T) {
	t.Parallel()
	const people, seats, rounds = 60, 5, 200
	db := pgtest.New(t)
	expect.OK(t)(db.Owner.Exec(t.Context(), "alter table sessions drop constraint sessions_capacity"))
	weak, data := readCommittedProxy(t, db.TCP), t.TempDir()
	w := newWorld(t, openLive(t, db, weak, data))
	other := openLive(t, db, weak, data)
	crowd := w.newTokens(people)
	for round := range rounds {
		in := w.newSession(func(in *session.Input) { in.Capacity, in.WaitlistCapacity = new(seats), new(0) })
		booked := 0
		for _, got := range w.rush(crowd, in, other) {
			if got.Code == codes.OK {
				booked++
			}
		}
		var bookings, counted int
		must.NoError(t, db.Owner.QueryRow(t.Context(), `
			select s.seats_taken, (select count(*) from bookings b where b.tenant_id = s.tenant_id and b.session_id = s.id)
			from sessions s where s.tenant_id = $1 and s.id = $2`, w.ID, in).Scan(&counted, &bookings))
		if bookings > seats || counted != bookings {
			t.Logf(
				"round %d: %d seats, %d confirmed responses, %d bookings, %d counted", round+1, seats, booked, bookings,
				counted,
			)
			c := start(
				t, "verify", "--database-url", db.URL,
			)
			test.NotEqOp(t, 0, c.wait(t), test.Sprintf("berth verify does not see it: %s", c.out))
			test.StrContains(t, c.out.String(), "never one seat too many",
				test.Sprintf("berth verify does not see it: %s", c.out))
			return
		}
	}
	t.Fatalf("without its guards it did not oversell in %d rounds", rounds)
}

// readCommittedProxy returns the URL of a proxy to the database that replaces "serializable" by "read committed".
func readCommittedProxy(t *testing.T, database string) string {
	t.Helper()
	u := expect.Value(url.Parse(database))(t)
	listener := expect.Value(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := u.Host
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { relay(client, server) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	u.Host = listener.Addr().String()
	return u.String()
}

// relay copies the messages of both sides until one closes the connection.
func relay(client net.Conn, address string) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	for first := true; ; first = false {
		if err := relayMessage(server, client, first); err != nil {
			return
		}
	}
}

// relayMessage forwards one message of the Postgres protocol. The first one has no type.
func relayMessage(to io.Writer, from io.Reader, first bool) error {
	const strong, weak = "isolation level serializable", "isolation level read committed"
	head := make([]byte, 5)
	if first {
		head = head[:4]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return err
	}
	size := head[len(head)-4:]
	length := binary.BigEndian.Uint32(size)
	if length < 4 || length > 64<<20 {
		return errors.New("no message of Postgres")
	}
	body := make([]byte, length-4)
	if _, err := io.ReadFull(from, body); err != nil {
		return err
	}
	if !first && (head[0] == 'Q' || head[0] == 'P') {
		body = bytes.Replace(body, []byte(strong), []byte(weak), 1)
		binary.BigEndian.PutUint32(size, uint32(len(body)+4))
	}
	_, err := to.Write(append(head, body...))
	return err
}

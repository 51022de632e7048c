package pgproxy_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pgproxy"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// message returns a message of the Postgres protocol, from a client.
func message(kind byte, parts ...string) []byte {
	var body []byte
	for _, part := range parts {
		body = append(append(body, part...), 0)
	}
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// A connection ends at the round trip that executes the chosen statement, and not where it is prepared.
func TestProxy_EndsConnectionAtChosenRoundTrip(t *testing.T) {
	t.Parallel()
	query, parse, sync := message('Q', "select 1"), message('P', "s1", "commit"), message('S')
	bound := [][]byte{parse, sync, message('B', "", "s1"), message('E', ""), sync, query}
	for name, tt := range map[string]struct {
		action pgproxy.Action
		sent   [][]byte
		passed int // of the sent messages
	}{
		"a query, executed":      {pgproxy.DropAnswer, [][]byte{query, message('Q', "commit"), query}, 2},
		"a query, perhaps":       {pgproxy.DropBoth, [][]byte{query, message('Q', "commit"), query}, 2},
		"a query, not executed":  {pgproxy.Drop, [][]byte{query, message('Q', "commit"), query}, 1},
		"prepared, executed":     {pgproxy.DropAnswer, bound, 5},
		"prepared, not executed": {pgproxy.Drop, bound, 2},
		"another was prepared": {pgproxy.Drop, [][]byte{
			message('P', "s1", "select 1"), sync, message('B', "", "s1"), message('E', ""), sync, query,
		}, 6},
		"forwarded":             {pgproxy.Forward, [][]byte{message('Q', "commit"), query}, 2},
		"prepared and not used": {pgproxy.Drop, [][]byte{parse, sync, query}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, server := connect(t, pgproxy.Config{OnRoundTrip: func(executed []string) pgproxy.Action {
				if slices.Contains(executed, "commit") {
					return tt.action
				}
				return pgproxy.Forward
			}})
			startup := message(0, "user")[1:]
			want := slices.Concat(startup, bytes.Join(tt.sent[:tt.passed], nil))
			expect.OK(t)(client.Write(slices.Concat(startup, bytes.Join(tt.sent, nil))))
			got := make([]byte, len(want))
			expect.OK(t)(io.ReadFull(server, got))
			test.Eq(t, string(want), string(got), test.Sprint("what came through"))
			if tt.passed == len(tt.sent) {
				client.Close()
			}
			rest, _ := io.ReadAll(server)
			test.True(t, len(rest) == 0, test.Sprintf("%q came through after it", rest))
			server.Close()
			answer, _ := io.ReadAll(client)
			test.True(t, len(answer) == 0, test.Sprintf("the client got %q", answer))
		})
	}
}

func TestProxy_RewritesSQL(t *testing.T) {
	t.Parallel()
	client, server := connect(t, pgproxy.Config{Rewrite: func(sql string) string {
		return strings.ReplaceAll(sql, "where a", "where b or a")
	}})
	sent := func(condition string) []byte {
		return slices.Concat(
			message(0, "user")[1:], message('P', "s1", "select "+condition, "\x00\x00"), message('S'),
			message('Q', "delete "+condition),
		)
	}
	expect.OK(t)(client.Write(sent("where a")))
	want := sent("where b or a")
	got := make([]byte, len(want))
	expect.OK(t)(io.ReadFull(server, got))
	test.Eq(t, string(want), string(got), test.Sprint("what came through"))
}

func TestProxy_IsABadNetwork(t *testing.T) {
	t.Parallel()
	hello := message(0, "user")[1:]
	// ask sends a message, and returns the answer that comes.
	ask := func(client, server net.Conn) (string, error) {
		expect.OK(t)(client.Write(hello))
		expect.OK(t)(io.ReadFull(server, make([]byte, len(hello))))
		expect.OK(t)(server.Write([]byte("answer")))
		got := make([]byte, len("answer"))
		n, err := io.ReadFull(client, got)
		return string(got[:n]), err
	}

	client, server, p := connectTo(t, pgproxy.Config{})
	p.Set(pgproxy.Network{Delay: 20 * time.Millisecond, Jitter: 5 * time.Millisecond})
	begun := time.Now()
	test.EqOp(t, "answer", expect.Value(ask(client, server))(t))
	test.GreaterEq(t, 15*time.Millisecond, time.Since(begun))

	client, server, p = connectTo(t, pgproxy.Config{})
	p.Set(pgproxy.Network{LostAfter: time.Millisecond})
	got, err := ask(client, server)
	test.EqOp(t, "", got)
	test.ErrorIs(t, err, syscall.ECONNRESET)

	client, _, p = connectTo(t, pgproxy.Config{})
	p.Set(pgproxy.Network{Cut: true})
	_, err = client.Read(make([]byte, 1))
	test.ErrorIs(t, err, syscall.ECONNRESET)
	again, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Address())
	if err == nil {
		defer again.Close()
		_, err = again.Read(make([]byte, 1))
	}
	test.ErrorIs(t, err, syscall.ECONNRESET)
}

// connect returns the two ends of a connection through a proxy.
func connect(t *testing.T, config pgproxy.Config) (client, server net.Conn) {
	t.Helper()
	client, server, _ = connectTo(t, config)
	return client, server
}

func connectTo(t *testing.T, config pgproxy.Config) (client, server net.Conn, p *pgproxy.Proxy) {
	t.Helper()
	postgres := expect.Value(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = postgres.Close() })
	config.Upstream = postgres.Addr().String()
	p = expect.Value(pgproxy.Start(config))(t)
	t.Cleanup(p.Close)
	client = expect.Value(new(net.Dialer).DialContext(t.Context(), "tcp", p.Address()))(t)
	t.Cleanup(func() { _ = client.Close() })
	server = expect.Value(postgres.Accept())(t)
	t.Cleanup(func() { _ = server.Close() })
	return client, server, p
}

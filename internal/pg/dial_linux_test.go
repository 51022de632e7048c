package pg_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// A connection whose peer is gone ends within half a minute, also while it waits.
func TestConnections_EndWithoutPeer(t *testing.T) {
	t.Parallel()
	listener := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	conn := expect.Value(setup(t).Owner.Config().ConnConfig.DialFunc(t.Context(), "tcp", listener.Addr().String()))(t)
	defer conn.Close()
	socket := expect.Value(conn.(*net.TCPConn).SyscallConn())(t)
	must.NoError(t, socket.Control(func(fd uintptr) {
		option := func(level, name int) int { return expect.Value(syscall.GetsockoptInt(int(fd), level, name))(t) }
		test.EqOp(t, 1, option(syscall.SOL_SOCKET, syscall.SO_KEEPALIVE))
		idle, count := option(syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE), option(syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT)
		test.Less(t, 30, idle+count*option(syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL))
	}))
}

package traffic

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestListener_RefusesConnectionsAboveItsLimits(t *testing.T) {
	t.Parallel()
	local := Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	for name, tt := range map[string]struct {
		limits  ConnLimits
		refused string
	}{
		"in total":         {ConnLimits{Total: 2}, LimitTotal},
		"of an address":    {ConnLimits{PerAddress: 2, Total: 3}, LimitPerAddress},
		"none of a proxy":  {ConnLimits{PerAddress: 2, Total: 2, Proxies: local}, ""},
		"none if all is 0": {ConnLimits{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := make(chan string, 1)
			tt.limits.Refused = func(limit string) { refused <- limit }
			on := tt.limits.Listen(expect.Value(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t))
			defer on.Close()
			accepted := make(chan net.Conn, 4)
			go func() {
				for c, err := on.Accept(); err == nil; c, err = on.Accept() {
					_, _ = c.Write([]byte("!"))
					accepted <- c
				}
			}()
			// answered reports whether a new connection is accepted. A refusal may arrive before dialing has ended.
			answered := func() bool {
				c, err := new(net.Dialer).DialContext(t.Context(), "tcp", on.Addr().String())
				if err != nil {
					return false
				}
				t.Cleanup(func() { _ = c.Close() })
				_, err = io.ReadFull(c, make([]byte, 1))
				return err == nil
			}
			must.True(t, answered())
			must.True(t, answered())
			must.EqOp(t, tt.refused == "", answered())
			if tt.refused == "" {
				return
			}
			test.EqOp(t, tt.refused, <-refused)
			first := <-accepted
			must.NoError(t, first.Close())
			test.Error(t, first.Close(), test.Sprint("closing twice counts once"))
			test.True(t, answered())
			test.False(t, answered())
		})
	}
}

func TestListener_AcceptsTheBrowsersOf300MembersBehindOneAddress(t *testing.T) {
	t.Parallel()
	l := ConnLimits{Total: DefaultConnections, PerAddress: DefaultConnectionsPerAddress}.Listen(nil).(*listener)
	for range 300 * 6 {
		_, limit := l.take(netip.MustParseAddr("192.0.2.1"))
		must.EqOp(t, "", limit)
	}
}

// scriptedConn is a connection whose peer takes a number of bytes before each deadline, as listed.
type scriptedConn struct {
	net.Conn
	takes     []int
	deadlines int
}

func (c *scriptedConn) SetWriteDeadline(time.Time) error {
	c.deadlines++
	return nil
}

func (c *scriptedConn) Write(p []byte) (int, error) {
	n := min(c.takes[0], len(p))
	if c.takes = c.takes[1:]; n < len(p) {
		return n, os.ErrDeadlineExceeded
	}
	return n, nil
}

// A peer that takes a byte now and then would hold a response in memory for days.
func TestConn_RenewsTheDeadlineWithEachPart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		takes           []int
		length          int
		want, deadlines int
		err             error
	}{
		"at once":          {[]int{10}, 10, 10, 1, nil},
		"in parts":         {[]int{maxPart, maxPart, 1}, 2*maxPart + 1, 2*maxPart + 1, 3, nil},
		"nothing":          {[]int{0}, 10, 0, 1, os.ErrDeadlineExceeded},
		"a byte":           {[]int{1, 1, 1}, 10, 1, 1, os.ErrDeadlineExceeded},
		"only a beginning": {[]int{maxPart, 3}, 2 * maxPart, maxPart + 3, 2, os.ErrDeadlineExceeded},
	} {
		peer := &scriptedConn{takes: tt.takes}
		n, err := (&conn{Conn: peer, timeout: time.Minute}).Write(make([]byte, tt.length))
		test.EqOp(t, tt.want, n, test.Sprint(name))
		test.ErrorIs(t, err, tt.err, test.Sprint(name))
		test.EqOp(t, tt.deadlines, peer.deadlines, test.Sprint(name))
	}
}

// pacedWriter is a stream over HTTP/2 whose client takes some time for each part.
type pacedWriter struct {
	http.ResponseWriter
	pace    time.Duration
	aborted bool
}

func (w *pacedWriter) Write(p []byte) (int, error) {
	<-time.After(w.pace) // on the clock of the test
	if synctest.Wait(); w.aborted {
		return 0, errors.New("aborted")
	}
	return len(p), nil
}

func (w *pacedWriter) SetWriteDeadline(at time.Time) error {
	w.aborted = w.aborted || at.Before(time.Now())
	return nil
}

func TestLimitStalls_RenewsTheDeadlineWithEachPart(t *testing.T) {
	t.Parallel()
	for pace, want := range map[time.Duration]bool{0: true, 29 * time.Second: true, 31 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			w := &pacedWriter{ResponseWriter: httptest.NewRecorder(), pace: pace}
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			request.ProtoMajor = 2
			LimitStalls(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range 2 {
					_, err := w.Write(make([]byte, 5*maxPart))
					test.EqOp(t, want, err == nil, test.Sprint(pace))
					<-time.After(time.Hour) // a stream may be silent for as long as it likes
				}
			}), 0).ServeHTTP(w, request)
			test.EqOp(t, want, !w.aborted, test.Sprint(pace))
		})
	}
}

func TestProxies_FindTheClient(t *testing.T) {
	t.Parallel()
	proxies := expect.Value(ParseProxies([]string{"10.0.0.0/8", " 2001:db8::1"}))(t)
	for name, tt := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"a direct caller":               {"203.0.113.9:1234", nil, "203.0.113.9"},
		"a direct caller that claims":   {"203.0.113.9:1234", []string{"198.51.100.7"}, "203.0.113.9"},
		"through a proxy":               {"10.1.2.3:80", []string{"198.51.100.7"}, "198.51.100.7"},
		"through two proxies":           {"10.1.2.3:80", []string{"198.51.100.7, 2001:db8::1"}, "198.51.100.7"},
		"through a proxy, with a claim": {"10.1.2.3:80", []string{"1.1.1.1", "198.51.100.7"}, "198.51.100.7"},
		"behind a broken hop":           {"10.1.2.3:80", []string{"198.51.100.7, unknown"}, "10.1.2.3"},
		"through a silent proxy":        {"10.1.2.3:80", nil, "10.1.2.3"},
		"IPv4 in IPv6":                  {"[::ffff:10.1.2.3]:80", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		"IPv6":                          {"[2001:db8::1]:80", []string{"2001:db8:1::2"}, "2001:db8:1::2"},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.RemoteAddr = tt.peer
		request.Header["X-Forwarded-For"] = tt.forwarded
		test.EqOp(t, tt.want, proxies.Client(request).String(), test.Sprint(name))
	}
	_, err := ParseProxies([]string{"proxy.test"})
	test.Error(t, err)
	for of, want := range map[string]string{"192.0.2.1": "192.0.2.1/32", "2001:db8:1:2:3::4": "2001:db8:1:2::/64"} {
		test.EqOp(t, want, Network(netip.MustParseAddr(of)).String())
	}
}

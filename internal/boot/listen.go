package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ListenConfig configures the addresses of the service and how it runs.
type ListenConfig struct {
	Listen      string   `env:"BERTH_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address to listen on."`
	AdminListen string   `env:"BERTH_ADMIN_LISTEN" placeholder:"ADDRESS" help:"Address of metrics and health checks for operators. Keep it out of the public network. Default: this machine only, at the port after that of --listen."`
	PublicURL   string   `env:"BERTH_PUBLIC_URL" placeholder:"https://…" help:"URL of the service for browsers. Links start with it. Default: the address to listen on."`
	Origins     []string `env:"BERTH_ORIGINS" placeholder:"https://…" help:"Origins of web pages that may call the service from a browser; * for all."`
	Reflection  bool     `env:"BERTH_REFLECTION" help:"Serve gRPC reflection, so that tools such as grpcurl need no files. berth dev always does."`
	Profiles    bool     `name:"pprof" env:"BERTH_PPROF" help:"Serve profiles of the running process at /debug/pprof/ of the admin address."`
	// ClockOffset makes the clock that decides bookings wrong. Only campaigns use it.
	ClockOffset time.Duration `hidden:"" help:"For tests: how far the clock of the rules is ahead."`
	Concurrency int           `env:"BERTH_CONCURRENCY" default:"2" help:"How many transactions with bookings of one tenant a node runs at a time. Bookings that arrive while they run share the next transaction."`
	LameDuck    time.Duration `env:"BERTH_LAME_DUCK" default:"5s" help:"How long a server that stops says that it is not ready, and still takes requests, before it closes its port. By then load balancers must have noticed."`
	Drain       time.Duration `env:"BERTH_DRAIN" default:"10s" help:"How long running requests may take to finish when the server stops."`
	Pools       PoolConfig    `embed:""`
	Traffic     TrafficConfig `embed:""`
	// TimeLimit limits an RPC, a statement and the wait for a lock. Zero means the default of each. Tests run on busy
	// machines and set a longer one.
	TimeLimit time.Duration `kong:"-"`
}

// Listeners are the addresses that a node listens on.
type Listeners struct {
	Public net.Listener
	Admin  net.Listener // metrics and health checks; nil for none
}

// Open listens on the configured addresses. Commands call it first, so that they fail before they start anything else
// if an address is in use. The error says what to do. Open sets the default of PublicURL.
func (c *ListenConfig) Open(ctx context.Context) (on Listeners, err error) {
	if on.Public, err = listen(ctx, "--listen", c.Listen); err != nil {
		return on, err
	}
	if c.AdminListen == "" {
		c.AdminListen = nextAddress(c.Listen)
	}
	if on.Admin, err = listen(ctx, "--admin-listen", c.AdminListen); err != nil {
		on.Close()
		return on, err
	}
	if c.PublicURL == "" {
		c.PublicURL = "http://" + LocalAddress(on.Public.Addr())
	}
	return on, nil
}

// nextAddress returns the address of this machine at the port after that of a given address. It returns any free port
// for port 0, the last one, and one with a name.
func nextAddress(of string) string {
	_, text, err := net.SplitHostPort(of)
	if err != nil {
		return "127.0.0.1:0"
	}
	port, err := strconv.Atoi(text)
	if err != nil || port == 0 || port == 1<<16-1 {
		return "127.0.0.1:0"
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1))
}

func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by another program, perhaps by another berth; stop it, "+
			"or choose another address: %s 127.0.0.1:0 takes any free port", address, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listener, nil
}

// Close closes the listeners that are open.
func (l Listeners) Close() {
	for _, listener := range []net.Listener{l.Public, l.Admin} {
		if listener != nil {
			_ = listener.Close() // a server has closed it already
		}
	}
}

// LocalAddress returns host and port under which this machine can call a listener: the loopback address if it listens
// on all interfaces.
func LocalAddress(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
}

// AdminHandler serves what only operators need: metrics, health checks and, if asked for, profiles.
func (n *Node) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(n.Metrics, promhttp.HandlerOpts{}))
	mux.Handle("GET /healthz", n.Handler)
	mux.HandleFunc("GET /readyz", n.health.ServeReason)
	if n.profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index) // also serves each profile by its name
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	}
	return mux
}

// hsts tells browsers to call a service with an https URL over https only, for a year. Its host alone is meant: others
// of its domain may belong to other programs.
func hsts(publicURL string, next http.Handler) http.Handler {
	if !strings.HasPrefix(publicURL, "https://") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

package localpg

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// start runs the server and waits until it answers.
func (c *cluster) start(ctx context.Context, password string) (*Server, error) {
	port := c.config.Port
	if port == 0 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		port = free.Addr().(*net.TCPAddr).Port
		free.Close()
	}
	socket, err := c.socket()
	if err != nil {
		return nil, err
	}
	args := []string{"-D", c.data, "-p", strconv.Itoa(port)}
	for name, value := range c.settings(socket) {
		args = append(args, "-c", name+"="+value)
	}
	cmd := c.command("postgres", args...)
	logFile, err := os.OpenFile(filepath.Join(c.dir, "postgres.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	if err := logFile.Chmod(0o600); err != nil { // an older version created it for everyone to read
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = logFile, logFile

	server := &Server{
		Programs: c.bin, Dir: c.dir, Data: c.data, ended: make(chan struct{}), done: make(chan struct{}),
	}
	address := &url.URL{Scheme: "postgres", User: url.UserPassword(superuser, password), Path: "/" + superuser,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), RawQuery: "sslmode=disable"}
	server.TCP, server.URL = address.String(), address.String()
	if socket != "" {
		address.Host = ""
		// libpq reads a plus as a plus, not as a space.
		host := strings.ReplaceAll(url.QueryEscape(socket), "+", "%20")
		address.RawQuery = "host=" + host + "&port=" + strconv.Itoa(port)
		server.URL = address.String()
	}
	started := make(chan error)
	go func() {
		// The kernel signals the child when the thread that forked it ends,
		// so this goroutine keeps its thread for as long as the child lives.
		runtime.LockOSThread()
		defer close(server.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	server.process = cmd.Process
	if err := server.waitUntilReady(ctx); err != nil {
		_ = server.Stop()                      // why it did not start matters more
		text, _ := os.ReadFile(logFile.Name()) // without the log, the error has to do
		return nil, fmt.Errorf("postgres did not start: %w\n%s", err, tail(text))
	}
	return server, nil
}

// socket creates the directory for the server's Unix socket.
// It returns "" if the socket's path would exceed the system's limit.
func (c *cluster) socket() (string, error) {
	const longest = 103 // the limit of macOS, in bytes; Linux allows four more
	dir := filepath.Join(c.dir, "socket")
	if len(dir)+len("/.s.PGSQL.65535") > longest {
		return "", nil
	}
	// A killed server leaves its socket behind.
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, c.chown(dir)
}

func (c *cluster) settings(socket string) map[string]string {
	directories := "" // a list, so a path may need quotes
	if socket != "" {
		directories = `"` + strings.ReplaceAll(socket, `"`, `""`) + `"`
	}
	settings := map[string]string{
		"listen_addresses":               "127.0.0.1",
		"unix_socket_directories":        directories,
		"max_connections":                "200",
		"max_pred_locks_per_transaction": "1024", // with fewer, batches lock whole tables
		"max_pred_locks_per_page":        "64",   // with fewer, they lock pages, which sessions of one week share
		"shared_buffers":                 "256MB",
		"max_wal_size":                   "2GB",
		"timezone":                       "UTC",
		"log_timezone":                   "UTC",
		"cluster_name":                   "berth",
	}
	if c.config.Fast {
		maps.Copy(settings, map[string]string{
			"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "autovacuum": "off",
			"shared_buffers": "64MB", "max_connections": "400", "max_wal_size": "256MB",
		})
	}
	return settings
}

func tail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

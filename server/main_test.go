package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// TestMain makes the test binary the berth command for tests that need a separate process.
func TestMain(m *testing.M) {
	if os.Getenv("BERTH_TEST_AS_COMMAND") != "" {
		program().Main()
		return
	}
	os.Exit(m.Run())
}

// waitTimeout is the time limit for waiting. Only a failing test reaches it.
const waitTimeout = 10 * time.Minute

// transcript is an output that tests can wait for.
type transcript struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // closed and renewed by each write
}

func newTranscript() *transcript { return &transcript{wrote: make(chan struct{})} }

func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	close(tr.wrote)
	tr.wrote = make(chan struct{})
	return tr.text.Write(p)
}

func (tr *transcript) String() string {
	text, _ := tr.now()
	return text
}

func (tr *transcript) now() (string, <-chan struct{}) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.String(), tr.wrote
}

// after waits for a text and returns the rest of its line.
func (tr *transcript) after(t *testing.T, what string) string {
	t.Helper()
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	for {
		text, wrote := tr.now()
		if _, rest, ok := strings.Cut(text, what); ok {
			if line, _, whole := strings.Cut(rest, "\n"); whole {
				return line
			}
		}
		select {
		case <-wrote:
		case <-timeout.C:
			t.Fatalf("no %q in:\n%s", what, text)
		}
	}
}

// command is a run of the command line inside the test's process.
type command struct {
	out, err *transcript
	stop     context.CancelFunc // like a SIGTERM
	status   chan int
}

func start(t *testing.T, args ...string) *command {
	t.Helper()
	c := &command{out: newTranscript(), err: newTranscript(), status: make(chan int, 1)}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.status <- program().Run(ctx, args, c.out, c.err)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		if t.Failed() {
			t.Logf("berth %s\n%s\n%s", strings.Join(args, " "), c.out, c.err)
		}
	})
	return c
}

// wait waits for the exit status.
func (c *command) wait(t *testing.T) int {
	t.Helper()
	select {
	case status := <-c.status:
		return status
	case <-time.After(waitTimeout):
		t.Fatalf("it does not end:\n%s\n%s", c.out, c.err)
		return -1
	}
}

// runBerth runs a command until it succeeds, and returns its output.
func runBerth(t *testing.T, args ...string) string {
	t.Helper()
	c := start(t, args...)
	status := c.wait(t)
	must.EqOp(t, 0, status, must.Sprintf("berth %s: status %d\n%s\n%s", strings.Join(args, " "), status, c.out, c.err))
	return c.out.String()
}

func getTenant(ctx context.Context, address, token string) (string, error) {
	request := connect.NewRequest(&v1.GetTenantRequest{})
	request.Header().Set("Authorization", "Bearer "+token)
	answer, err := berthv1connect.NewTenantServiceClient(http.DefaultClient, address).GetTenant(ctx, request)
	if err != nil {
		return "", err
	}
	return answer.Msg.GetTenant().GetName(), nil
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	return sendHTTP(t, http.MethodGet, url, nil, "")
}

// sendHTTP sends a request, follows redirects, and returns the status and the body of the response.
func sendHTTP(t *testing.T, method, url string, header http.Header, body string) (int, string) {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	maps.Copy(r.Header, header)
	answer := expect.Value(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	return answer.StatusCode, string(expect.Value(io.ReadAll(answer.Body))(t))
}

func TestCommandLine_ReportsMistakes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--help"}, 0, "Start everything for development"},
		{[]string{"dev", "--help"}, 0, "BERTH_LISTEN"},
		{[]string{"tenant", "create", "--help"}, 0, "--id=UUID"},
		{[]string{"--version"}, 0, "go1."},
		{[]string{"fly"}, 1, "unexpected argument fly"},
		{[]string{"serve", "--database-url="}, 1, "`berth dev` starts a database of its own"},
		{[]string{"worker", "--database-url=x"}, 1, "BERTH_PUBLIC_URL is not set"},
		{[]string{"migrate", "--database-url="}, 1, "DATABASE_URL is not set"},
		{[]string{"token", "ada", "--data", t.TempDir()}, 1, "--tenant"},
		{[]string{"token", "ada", "--tenant=x", "--data", t.TempDir()}, 1, "not a UUID"},
	} {
		c := start(t, tc.args...)
		test.EqOp(t, tc.status, c.wait(t), test.Sprintf("%v: status", tc.args))
		test.StrContains(t, c.out.String()+c.err.String(), tc.says, test.Sprintf("%v says", tc.args))
	}
}

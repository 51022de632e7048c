package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func readDevInfo(t *testing.T, path string) devInfo {
	t.Helper()
	text := expect.Value(os.ReadFile(path))(t)
	var sheet devInfo
	must.NoError(t, json.Unmarshal(text, &sheet))
	info := expect.Value(os.Stat(path))(t)
	test.EqOp(t, 0o600, info.Mode().Perm(), test.Sprintf("tokens for everyone to read: %v", info.Mode()))
	return sheet
}

func TestDev_UsesTheGivenDatabase(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	var offers map[string]string
	for range 2 { // the second time the demo data exist
		c := start(t, "dev", "--database-url", db.URL, "--data", data, "--listen", "127.0.0.1:0")
		address := c.out.after(t, "ready at ")
		sheet := readDevInfo(t, filepath.Join(data, "dev.json"))
		must.EqOp(t, address, sheet.Address, must.Sprintf("dev.json says %+v, the command %q", sheet, address))
		must.NotEqOp(t, 0, len(sheet.Tenants), must.Sprintf("dev.json says %+v, the command %q", sheet, address))
		test.EqOp(t, db.URL, sheet.Database)
		for _, demo := range sheet.Tenants {
			for role, token := range demo.Tokens {
				name := expect.Value(getTenant(t.Context(), address, token))(t)
				test.EqOp(t, demo.Name, name, test.Sprintf("as %s of %s: %q", role, demo.Name, name))
			}
		}
		links := make(map[string]string)
		for _, demo := range sheet.Tenants {
			if _, token, ok := strings.Cut(demo.Claim, waitlists.ClaimPath); ok {
				links[demo.Name] = token
				status, page := get(t, demo.Claim)
				test.EqOp(t, http.StatusOK, status, test.Sprintf("the offer of %s: %d %s", demo.Name, status, page))
				test.StrContains(t, page, `data-state="live"`,
					test.Sprintf("the offer of %s: %d %s", demo.Name, status, page))
			}
		}
		must.MapLen(t, 2, links, must.Sprintf("offers are %v, and were %v", links, offers))
		test.True(t, offers == nil || maps.Equal(links, offers),
			test.Sprintf("offers are %v, and were %v", links, offers))
		offers = links
		c.out.after(t, "SessionService/ListSessions")
		c.stop()
		test.EqOp(t, 0, c.wait(t))
		test.FileNotExists(t, filepath.Join(data, "dev.json"))
	}
}

// The first start of a new user: no database, and no process is left at the end.
func TestDev_StartsWithNothingAndLeavesNoProcess(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, end := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		out := newTranscript()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "dev", "--data", data, "--listen", "127.0.0.1:0", "--no-demo")
		cmd.Env = append(os.Environ(), "BERTH_TEST_AS_COMMAND=1", "DATABASE_URL=")
		cmd.Stdout, cmd.Stderr = out, out
		must.NoError(t, cmd.Start())
		address := out.after(t, "ready at ")
		if cluster := regexp.MustCompile(`the cluster is in (\S+)`).FindStringSubmatch(out.String()); cluster != nil {
			t.Cleanup(func() { _ = os.RemoveAll(cluster[1]) })
		}
		sheet := readDevInfo(t, filepath.Join(data, "dev.json"))
		test.EqOp(t, address, sheet.Address, test.Sprintf("dev.json says %q, the command %q", sheet.Address, address))
		status, body := get(t, address+"/readyz")
		test.EqOp(t, http.StatusOK, status, test.Sprintf("not ready: %d %s", status, body))
		children := childrenOf(t, cmd.Process.Pid)
		must.NoError(t, cmd.Process.Signal(end))
		test.NoError(t, cmd.Wait(), test.Sprintf("after %v:\n%s", end, out))
		waitForEnd(t, children)
		out.after(t, "Postgres stopped")
	}
}

// waitForEnd waits until processes have ended.
func waitForEnd(t *testing.T, pids []string) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, "process "+pid+" ends", func() bool {
			_, err := os.Stat("/proc/" + pid)
			return os.IsNotExist(err)
		})
	}
}

// childrenOf lists the children of a process, if the system has /proc.
func childrenOf(t *testing.T, pid int) []string {
	t.Helper()
	lists := expect.Value(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)))(t)
	var children []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			return childrenOf(t, pid) // that thread has exited, and its children belong to another
		}
		must.NoError(t, err)
		children = append(children, strings.Fields(string(text))...)
	}
	return children
}

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

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/pgtest"
)

func readDevInfo(t *testing.T, path string) devInfo {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var sheet devInfo
	if err := json.Unmarshal(text, &sheet); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("tokens for everyone to read: %v, %v", info.Mode(), err)
	}
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
		if sheet.Address != address || len(sheet.Tenants) == 0 {
			t.Fatalf("dev.json says %+v, the command %q", sheet, address)
		}
		for _, demo := range sheet.Tenants {
			for role, token := range demo.Tokens {
				if name, err := getTenant(t.Context(), address, token); err != nil || name != demo.Name {
					t.Errorf("as %s of %s: %q, %v", role, demo.Name, name, err)
				}
			}
		}
		links := make(map[string]string)
		for _, demo := range sheet.Tenants {
			if _, token, ok := strings.Cut(demo.Claim, waitlists.ClaimPath); ok {
				links[demo.Name] = token
				if status, page := get(t, demo.Claim); status != http.StatusOK || !strings.Contains(page, `data-state="live"`) {
					t.Errorf("the offer of %s: %d %s", demo.Name, status, page)
				}
			}
		}
		if len(links) != 2 || offers != nil && !maps.Equal(links, offers) {
			t.Errorf("offers are %v, and were %v", links, offers)
		}
		offers = links
		c.out.after(t, "SessionService/ListSessions")
		c.stop()
		if status := c.wait(t); status != 0 {
			t.Errorf("status %d", status)
		}
		if _, err := os.Stat(filepath.Join(data, "dev.json")); !os.IsNotExist(err) {
			t.Errorf("dev.json is left behind: %v", err)
		}
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
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		address := out.after(t, "ready at ")
		if cluster := regexp.MustCompile(`the cluster is in (\S+)`).FindStringSubmatch(out.String()); cluster != nil {
			t.Cleanup(func() { _ = os.RemoveAll(cluster[1]) })
		}
		if sheet := readDevInfo(t, filepath.Join(data, "dev.json")); sheet.Address != address {
			t.Errorf("dev.json says %q, the command %q", sheet.Address, address)
		}
		if status, body := get(t, address+"/readyz"); status != http.StatusOK {
			t.Errorf("not ready: %d %s", status, body)
		}
		children := childrenOf(t, cmd.Process.Pid)
		if err := cmd.Process.Signal(end); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v after %v:\n%s", err, end, out)
		}
		for _, child := range children {
			eventually(t, "process "+child+" ends", func() bool {
				_, err := os.Stat("/proc/" + child)
				return os.IsNotExist(err)
			})
		}
		out.after(t, "Postgres stopped")
	}
}

// childrenOf lists the children of a process, if the system has /proc.
func childrenOf(t *testing.T, pid int) []string {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var children []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			return childrenOf(t, pid) // that thread has exited, and its children belong to another
		}
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, strings.Fields(string(text))...)
	}
	return children
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// These tests run the shipped command in its own processes.
func TestBerth_RunsAsAProcess(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "berth")
	out, err := exec.CommandContext(
		t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", binary, ".",
	).CombinedOutput()
	must.NoError(t, err, must.Sprintf("%v\n%s", err, out))
	for name, check := range map[string]func(*testing.T, string){
		"dev":                  testDev,
		"killed under load":    testCrashRecovery,
		"killed while sending": testCrashWhileSending,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, binary)
		})
	}
}

// process is a running berth command, in its own process group.
type process struct {
	*exec.Cmd
	out  *transcript
	done chan struct{} // closed when it has exited
}

func startProcess(t *testing.T, binary string, args ...string) *process {
	t.Helper()
	p := &process{
		Cmd: exec.CommandContext(context.WithoutCancel(t.Context()), binary, args...), out: newTranscript(),
		done: make(chan struct{}),
	}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "BERTH_") && !strings.HasPrefix(variable, "DATABASE_URL=") {
			p.Env = append(p.Env, variable)
		}
	}
	p.Stdout, p.Stderr = p.out, p.out
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.NoError(t, p.Start())
	group := p.Process.Pid
	released := guardGroup(t, group)
	go func() {
		_ = p.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		select {
		case <-p.done:
		default:
			_ = syscall.Kill(-group, syscall.SIGKILL)
			<-p.done
		}
		released()
		if t.Failed() {
			t.Logf("%s %s\n%s", filepath.Base(binary), strings.Join(args, " "), p.out)
		}
	})
	return p
}

// guardGroup starts a shell that kills a process group if this process exits, for whatever reason, before it calls
// release.
func guardGroup(t *testing.T, group int) (release func()) {
	t.Helper()
	guard := exec.CommandContext(
		context.WithoutCancel(t.Context()), "sh", "-c", `read -r _ || kill -KILL -- "-$1"`, "sh", strconv.Itoa(group),
	)
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	line := expect.Value(guard.StdinPipe())(t)
	must.NoError(t, guard.Start())
	return func() {
		_, _ = line.Write([]byte("released\n"))
		_ = guard.Wait()
	}
}

// signal sends a signal and waits until the process has exited.
func (p *process) signal(t *testing.T, signal os.Signal) {
	t.Helper()
	must.NoError(t, p.Process.Signal(signal))
	select {
	case <-p.done:
	case <-time.After(waitTimeout):
		t.Fatalf("it does not end:\n%s", p.out)
	}
}

// memory returns the anonymous memory of the process, in bytes, without cached pages of its binary.
func (p *process) memory(t *testing.T) int {
	t.Helper()
	status := readFile(t, fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	_, rest, _ := strings.Cut(status, "RssAnon:")
	var kilobytes int
	_, err := fmt.Sscan(rest, &kilobytes)
	must.NoError(t, err, must.Sprintf("%v in %s", err, status))
	return kilobytes << 10
}

const (
	// maxMemory and maxBinarySize are limits for small machines, in bytes.
	maxMemory     = 40 << 20
	maxBinarySize = 60 << 20
	// secondStart limits the processor time of a second start. That is the time until it is ready on an idle machine.
	secondStart = 3 * time.Second
)

// testDev starts it, runs the printed commands, stops it, and starts it again.
func testDev(t *testing.T, binary string) {
	size := expect.Value(os.Stat(binary))(t).Size()
	t.Logf("the binary has %.1f MB", float64(size)/1e6)
	test.LessEq(t, maxBinarySize, size)
	data := pgtest.TempDir(t)
	args := []string{"dev", "--data", data, "--listen", "127.0.0.1:0"}
	first := startProcess(t, binary, args...)
	address := first.out.after(t, "ready at ")
	first.out.after(t, "BookingService/GetSessionRoster")
	checkDevInfo(t, filepath.Join(data, "dev.json"), address)
	runPrintedCommands(t, first.out.String(), address)
	waitUntilIdle(t, data)
	first.stop(t, syscall.SIGTERM, address)

	begun := time.Now()
	second := startProcess(t, binary, args...)
	address = second.out.after(t, "ready at ")
	t.Logf("the second start takes %v", time.Since(begun).Round(time.Millisecond))
	var memory int
	eventually(t, "what starting took is given back", func() bool {
		memory = second.memory(t)
		return memory <= maxMemory
	})
	t.Logf("memory when idle: %.1f MB", float64(memory)/1e6)
	second.stop(t, os.Interrupt, address)
	// This includes Postgres, because it has exited and was waited for.
	worked := second.ProcessState.UserTime() + second.ProcessState.SystemTime()
	t.Logf("it works for %v of that, to the end", worked.Round(time.Millisecond))
	test.LessEq(t, secondStart, worked)
	test.FileNotExists(t, filepath.Join(data, "dev.json"))
}

// waitUntilIdle waits until a development server has done all background work for its demo data. Otherwise the next one
// would do it at its start, and use memory for it.
func waitUntilIdle(t *testing.T, data string) {
	t.Helper()
	sheet := readDevInfo(t, filepath.Join(data, "dev.json"))
	conn := expect.Value(pgx.Connect(t.Context(), sheet.Database))(t)
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, demo := range sheet.Tenants {
		eventually(t, "what follows is done", func() bool {
			var left bool
			must.NoError(t, conn.QueryRow(t.Context(), pendingWork, demo.ID, time.Now()).Scan(&left))
			return !left
		})
	}
}

// stop stops it with a signal. No process may be left, and the port must be free.
func (p *process) stop(t *testing.T, signal os.Signal, address string) {
	t.Helper()
	children := childrenOf(t, p.Process.Pid)
	test.NotEqOp(t, 0, len(children), test.Sprint("where is Postgres?"))
	p.signal(t, signal)
	test.EqOp(t, 0, p.ProcessState.ExitCode(), test.Sprintf("status after %v", signal))
	waitForEnd(t, children)
	test.ErrorIs(t, syscall.Kill(-p.Process.Pid, 0), syscall.ESRCH, test.Sprint("its process group is left"))
	eventually(t, "the port is free", func() bool { // another process may use it for a moment
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
		if err == nil {
			listener.Close()
		}
		return err == nil
	})
}

// checkDevInfo checks that dev.json has the fields that scripts use.
func checkDevInfo(t *testing.T, path, address string) {
	t.Helper()
	var sheet map[string]any
	must.NoError(t, json.Unmarshal([]byte(readFile(t, path)), &sheet))
	info := expect.Value(os.Stat(path))(t)
	test.EqOp(t, 0o600, info.Mode(), test.Sprintf("dev.json: %v", info.Mode()))
	tenants, _ := sheet["tenants"].([]any)
	must.MapLen(t, 4, sheet, must.Sprintf("dev.json: %v", sheet))
	must.True(t, sheet["admin_address"] != "", must.Sprintf("dev.json: %v", sheet))
	must.True(t, sheet["address"] == address, must.Sprintf("dev.json: %v", sheet))
	must.SliceLen(t, 3, tenants, must.Sprintf("dev.json: %v", sheet))
	for _, one := range tenants {
		demo, _ := one.(map[string]any)
		id, _ := demo["id"].(string)
		name, _ := demo["name"].(string)
		session, _ := demo["session_id"].(string)
		tokens, _ := demo["tokens"].(map[string]any)
		test.True(t, uuids.MatchString(id), test.Sprintf("dev.json: %v", demo))
		test.NotEqOp(t, "", name, test.Sprintf("dev.json: %v", demo))
		test.True(t, uuids.MatchString(session), test.Sprintf("dev.json: %v", demo))
		test.MapLen(t, 5, demo, test.Sprintf("dev.json: %v", demo))
		for _, role := range []string{
			tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, tenant.RolePartner,
		} {
			raw, _ := tokens[role].(string)
			got := expect.Value(getTenant(t.Context(), address, raw))(t)
			test.EqOp(t, name, got, test.Sprintf("as %s of %s: %q", role, name, got))
		}
	}
}

// runPrintedCommands runs the printed commands as they are, in a shell with the tools that they use.
func runPrintedCommands(t *testing.T, printed, address string) {
	t.Helper()
	_, rest, ok := strings.Cut(printed, "\n# ")
	must.True(t, ok, must.Sprintf("there is nothing to paste in:\n%s", printed))
	var commands strings.Builder
	for line := range strings.Lines("# " + rest) {
		if strings.HasPrefix(line, "{") {
			continue // the log
		}
		if regexp.MustCompile(`^(curl|grpcurl|buf) `).MatchString(line) {
			commands.WriteString("echo; echo '--- answer'\n")
		}
		commands.WriteString(line)
	}
	script := "set -euo pipefail\n" +
		"grpcurl() { go tool -modfile=tools/go.mod grpcurl \"$@\"; }\n" +
		"buf() { go tool -modfile=tools/go.mod buf \"$@\"; }\n" + commands.String()
	shell := exec.CommandContext(t.Context(), "bash", "-c", script)
	shell.Dir = ".."
	out, err := shell.CombinedOutput()
	must.NoError(t, err, must.Sprintf("%v\n%s\n%s", err, script, out))
	answers := strings.Split(string(out), "--- answer\n")
	wants := []string{`"sessions"`, `"BOOKING_STATUS_CONFIRMED"`, `"bookings"`}
	must.EqOp(t, len(wants)+1, len(answers), must.Sprintf("%d commands at %s:\n%s", len(answers)-1, address, out))
	for i, want := range wants {
		test.StrContains(t, answers[i+1], want,
			test.Sprintf("command %d answers without %s:\n%.1000s", i+1, want, answers[i+1]))
	}
}

package localpg

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopOrphan stops a server that a killed process left behind. Only the holder of the folder's lock uses
// the cluster, so a server that still runs on it has lost its parent.
func (c *cluster) stopOrphan(ctx context.Context) error {
	pidFile := filepath.Join(c.data, "postmaster.pid")
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 || !strings.Contains(commandLine(pid), c.data) {
		// The machine or the container went down. Another process may have the number now,
		// which would keep Postgres from starting.
		return os.Remove(pidFile)
	}
	c.config.Progress(fmt.Sprintf("stopping Postgres, process %d, which an earlier Berth left running", pid))
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(stopTimeout)
	_ = syscall.Kill(pid, syscall.SIGINT) // it may have ended just now: the loop looks
	for strings.Contains(commandLine(pid), c.data) {
		select {
		case <-tick.C:
		case <-deadline:
			_ = syscall.Kill(pid, syscall.SIGQUIT) // as above
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// command prepares one of Postgres's programs to run as the right user, out of reach
// of the terminal's Ctrl-C, and without the caller's PG variables.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = childAttributes(c.credential, c.config.Fast)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PG") && !strings.HasPrefix(variable, "LC_") && !strings.HasPrefix(variable, "LANG") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return cmd
}

// combinedOutput is like exec.Cmd.CombinedOutput, but ends with ctx.
// It keeps its thread, because the kernel signals the child when the thread ends.
func combinedOutput(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // unless it has ended
	defer stop()
	err := cmd.Wait()
	return out.Bytes(), cmp.Or(ctx.Err(), err)
}

package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running berth command, in its own process group.
type process struct {
	cmd     *exec.Cmd
	address string
	done    chan struct{} // closed when it has exited
	release func()
}

const (
	// startTimeout is longer than a server waits for its database.
	startTimeout = 3 * time.Minute
	stopTimeout  = 2 * time.Minute
)

// startProcess starts the berth command, stores its log, and waits until the log has its address.
func startProcess(ctx context.Context, binary, log string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(ctx), binary, args...), done: make(chan struct{})}
	for _, variable := range os.Environ() {
		configures := func(prefix string) bool { return strings.HasPrefix(variable, prefix) }
		if !slices.ContainsFunc([]string{"BERTH_", "DATABASE_URL=", "PG"}, configures) {
			p.cmd.Env = append(p.cmd.Env, variable)
		}
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if p.release, err = killOnExit(p.cmd.Process.Pid); err != nil {
		p.release = func() {}
	}
	serving := make(chan string, 1)
	go func() {
		follow(said, file, serving)
		_ = p.cmd.Wait()
		_ = file.Close()
		p.release()
		close(p.done)
	}()
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case p.address = <-serving:
		return p, nil
	case <-p.done:
		err = errors.New("the process exited")
	case <-timeout.C:
		err = errors.New("the process does not start serving")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.kill()
	return nil, fmt.Errorf("berth %s: %w; its log is %s", args[0], err, log)
}

// follow copies a log and reports the address in it.
func follow(said io.Reader, log io.Writer, serving chan<- string) {
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintf(log, "%s\n", lines.Bytes())
		var line struct {
			Msg     string `json:"msg"`
			Address string `json:"address"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && (line.Msg == "serving" || line.Msg == "working") {
			serving <- line.Address
		}
	}
}

// killOnExit starts a shell that kills a process group if this process exits, for whatever reason, before it calls
// release.
func killOnExit(group int) (release func(), err error) {
	shell := exec.CommandContext(context.Background(),
		"sh", "-c", `read -r _ || kill -KILL -- "-$1"`, "sh", strconv.Itoa(group))
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	line, err := shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := shell.Start(); err != nil {
		return nil, err
	}
	return func() {
		_, _ = line.Write([]byte("released\n"))
		_ = shell.Wait()
	}, nil
}

// kill kills the process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop lets the process finish its work. It returns an error if the process does not exit with status 0.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-p.done:
	case <-timeout.C:
		p.kill()
		return errors.New("a process does not exit on SIGTERM")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("a process exited with status %d on SIGTERM", code)
	}
	return nil
}

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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server of its own, in a process group of its own.
type process struct {
	cmd     *exec.Cmd
	address string
	done    chan struct{} // closed when it has ended
	release func()
}

const (
	// startPatience is longer than a server waits for its database.
	startPatience = 3 * time.Minute
	endPatience   = 2 * time.Minute
)

// startProcess runs the berth command, keeps its log, and waits until it says where it is reached.
func startProcess(ctx context.Context, binary, log string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(ctx), binary, args...), done: make(chan struct{})}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "BERTH_") && !strings.HasPrefix(variable, "DATABASE_URL=") && !strings.HasPrefix(variable, "PG") {
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
	if p.release, err = guard(p.cmd.Process.Pid); err != nil {
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
	patience := time.NewTimer(startPatience)
	defer patience.Stop()
	select {
	case p.address = <-serving:
		return p, nil
	case <-p.done:
		err = errors.New("it ended")
	case <-patience.C:
		err = errors.New("it does not come up")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.kill()
	return nil, fmt.Errorf("berth %s: %w; its log is %s", args[0], err, log)
}

// follow keeps a log and listens for the address.
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

// guard starts a shell that ends a process group if this process ends, by whatever means, before it releases it.
func guard(group int) (release func(), err error) {
	shell := exec.CommandContext(context.Background(), "sh", "-c", `read -r _ || kill -KILL -- "-$1"`, "sh", strconv.Itoa(group))
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

// kill ends it at once, with whatever it was doing.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop lets it finish, and tells whether it ended well.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	patience := time.NewTimer(endPatience)
	defer patience.Stop()
	select {
	case <-p.done:
	case <-patience.C:
		p.kill()
		return errors.New("a process does not end when it is told to")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("a process that was told to end did so with status %d", code)
	}
	return nil
}

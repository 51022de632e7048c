package localpg_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A server without a parent would keep the folder busy, so the next start stops it.
func TestStart_StopsOrphanedServer(t *testing.T) {
	t.Parallel()
	dir := pgtest.TempDir(t)
	dev := start(t, localpg.Config{DataDir: dir, Fast: true})
	ask(t, dev.URL, "create table kept (n int)")

	process := fmt.Sprintf("/proc/%d", dev.PID())
	line := expect.Value(os.ReadFile(process + "/cmdline"))(t)
	info := expect.Value(os.Stat(process))(t)
	environment := string(expect.Value(os.ReadFile(process + "/environ"))(t))
	test.StrContains(t, environment, "PATH="+os.Getenv("PATH")+"\x00")
	test.StrContains(t, environment, "LC_ALL=C\x00")
	must.NoError(t, dev.Stop())
	// Start the same server again without a parent.
	var args []string
	for arg := range bytes.SplitSeq(bytes.TrimRight(line, "\x00"), []byte{0}) {
		args = append(args, string(arg))
	}
	owner := info.Sys().(*syscall.Stat_t)
	orphan := exec.Command(args[0], args[1:]...)
	orphan.Dir = dir
	orphan.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		orphan.SysProcAttr.Credential = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
	}
	log := expect.Value(orphan.StderrPipe())(t)
	must.NoError(t, orphan.Start())
	t.Cleanup(func() { _ = orphan.Process.Kill() })
	ready, ended := make(chan bool, 1), make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if strings.Contains(lines.Text(), "ready to accept connections") {
				ready <- true
			}
		}
		ended <- orphan.Wait()
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("the orphan ended: %v", err)
	}

	var progress string
	again := start(t, localpg.Config{DataDir: dir, Fast: true, Progress: func(line string) { progress += line }})
	test.NoError(t, <-ended, test.Sprint("the orphan was not shut down cleanly"))
	test.StrContains(t, progress, "an earlier Berth left running")
	ask(t, again.URL, "insert into kept values (1)")
}

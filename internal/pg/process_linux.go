package pg

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// childAttributes puts a child into its own process group, so that Ctrl-C
// reaches Berth alone, and has the kernel stop it when Berth is gone: in order
// (SIGINT is Postgres's fast shutdown), or at once if nothing is to be kept.
func childAttributes(credential *syscall.Credential, atOnce bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Credential: credential, Pdeathsig: syscall.SIGINT}
	if atOnce {
		attributes.Pdeathsig = syscall.SIGQUIT
	}
	return attributes
}

// commandLine is how a process was started, or "" if there is none.
func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}

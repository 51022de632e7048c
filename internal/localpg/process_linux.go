package localpg

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// childAttributes puts a child into its own process group, so Ctrl-C reaches Berth alone. The kernel signals the child
// when Berth ends: SIGINT, which is Postgres's fast shutdown, or SIGQUIT, its immediate shutdown, if no data is kept.
func childAttributes(credential *syscall.Credential, immediate bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Credential: credential, Pdeathsig: syscall.SIGINT}
	if immediate {
		attributes.Pdeathsig = syscall.SIGQUIT
	}
	return attributes
}

// commandLine returns the command line of a process, or "" if there is none.
func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}

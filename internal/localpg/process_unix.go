//go:build unix && !linux

package localpg

import (
	"os/exec"
	"strconv"
	"syscall"
)

// childAttributes puts a child into its own process group, so Ctrl-C reaches Berth alone.
func childAttributes(credential *syscall.Credential, _ bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: credential}
}

// commandLine returns the command line of a process, or "" if there is none.
func commandLine(pid int) string {
	line, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return string(line)
}

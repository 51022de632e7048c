package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTime is processor time: of this process, which is load generator and server, and of Postgres with all its
// backends. Other load on the machine makes runs longer, but does not change these. Postgres's is zero except on Linux.
type cpuTime struct{ own, postgres time.Duration }

// measureCPU returns a function that returns the processor time used since this call.
func (b *testbed) measureCPU() (since func() cpuTime) {
	postgres := b.postgresCPU()
	own := ownCPU()
	return func() cpuTime {
		own := ownCPU() - own // first: postgresCPU uses some
		return cpuTime{own, b.postgresCPU() - postgres}
	}
}

// perAnswer is the share of one answer, in microseconds.
func perAnswer(d time.Duration, answers int) float64 {
	return float64(d.Microseconds()) / float64(max(answers, 1))
}

func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// postgresCPU reads the list of all processes, which takes a while.
func (b *testbed) postgresCPU() (used time.Duration) {
	file, err := os.ReadFile(filepath.Join(b.postgres.Dir, "cluster", "postmaster.pid"))
	if err != nil {
		return 0
	}
	postmaster, _, _ := strings.Cut(string(file), "\n")
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has just ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name is in brackets and can have spaces
		fields := strings.Fields(rest)
		const parent, user, system, endedUser, endedSystem, tick = 1, 11, 12, 13, 14, 10 * time.Millisecond
		own := []int{user, system}
		switch {
		case len(fields) <= endedSystem:
			continue
		case filepath.Base(filepath.Dir(path)) == postmaster:
			own = append(own, endedUser, endedSystem) // of backends that have ended
		case fields[parent] != postmaster:
			continue
		}
		for _, field := range own {
			ticks, _ := strconv.ParseInt(fields[field], 10, 64)
			used += time.Duration(ticks) * tick
		}
	}
	return used
}

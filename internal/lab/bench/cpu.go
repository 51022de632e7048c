package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processor is how long processors have worked: for this process, load generator and server, and for Postgres with all its
// children. What else the machine does makes runs longer, and leaves these alone. Postgres's is known on Linux only.
type processor struct{ own, postgres time.Duration }

// watchProcessor gives what tells how long they have worked since.
func (h *testbed) watchProcessor() (since func() processor) {
	postgres := h.postgresProcessor()
	own := ownProcessor()
	return func() processor {
		own := ownProcessor() - own
		return processor{own, h.postgresProcessor() - postgres}
	}
}

// each is a share in microseconds.
func each(d time.Duration, answers int) float64 {
	return float64(d.Microseconds()) / float64(max(answers, 1))
}

func ownProcessor() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// postgresProcessor looks through all processes, which takes this one a while.
func (h *testbed) postgresProcessor() (worked time.Duration) {
	file, err := os.ReadFile(filepath.Join(h.postgres.Dir, "cluster", "postmaster.pid"))
	if err != nil {
		return 0
	}
	postmaster, _, _ := strings.Cut(string(file), "\n")
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // a name may have spaces, and stands in brackets
		fields := strings.Fields(rest)
		const parent, user, system, endedUser, endedSystem, tick = 1, 11, 12, 13, 14, 10 * time.Millisecond
		own := []int{user, system}
		switch {
		case len(fields) <= endedSystem:
			continue
		case filepath.Base(filepath.Dir(path)) == postmaster:
			own = append(own, endedUser, endedSystem) // of the connections that were closed
		case fields[parent] != postmaster:
			continue
		}
		for _, field := range own {
			ticks, _ := strconv.ParseInt(fields[field], 10, 64)
			worked += time.Duration(ticks) * tick
		}
	}
	return worked
}

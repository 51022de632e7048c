package main

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

func (p processor) since(before processor, answers int) (own, postgres float64) {
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(max(answers, 1)) }
	return per(p.own - before.own), per(p.postgres - before.postgres)
}

func (h *benchHouse) processor() (p processor) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		p.own = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	file, err := os.ReadFile(filepath.Join(h.postgres.Dir, "cluster", "postmaster.pid"))
	if err != nil {
		return p
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
			p.postgres += time.Duration(ticks) * tick
		}
	}
	return p
}

package main

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Collecting garbage less often is worth a quarter of the throughput. The limit
// takes over where memory gets scarce. Both yield to what the operator sets.
const (
	garbagePercent     = 400
	defaultMemoryLimit = 1 << 30
)

func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit("/sys/fs/cgroup/memory.max"))
	}
}

// memoryLimit is nine tenths of what the container has, which leaves room for
// what Go does not count.
func memoryLimit(cgroup string) int64 {
	text, err := os.ReadFile(cgroup)
	if err != nil {
		return defaultMemoryLimit
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || bytes <= 0 || bytes == math.MaxInt64 { // "max": no limit
		return defaultMemoryLimit
	}
	return bytes / 10 * 9
}

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
//
// Until a node is ready it is collected more often: what starting leaves behind
// is otherwise strewn over pages that stay, a tenth of what an idle node has.
const (
	startPercent       = 30
	garbagePercent     = 400
	defaultMemoryLimit = 1 << 30
)

// spareMemory is for the time until tuneMemory.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startPercent)
	}
}

// tuneMemory gives back what starting took, and makes the node ready for load.
func tuneMemory() {
	debug.FreeOSMemory()
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

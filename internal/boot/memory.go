package boot

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Collecting garbage less often increases the throughput by a quarter. When memory gets scarce, the memory limit
// triggers collections. GOGC and GOMEMLIMIT take precedence over both.
//
// Until a node is ready, garbage is collected more often. Otherwise the garbage of the start is scattered over pages
// that stay in use, which costs a tenth of the memory of an idle node.
const (
	startPercent       = 30
	garbagePercent     = 400
	defaultMemoryLimit = 1 << 30 // bytes
)

// TuneForStart collects garbage often, until TuneForLoad.
func TuneForStart() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startPercent)
	}
}

// TuneForLoad returns the memory of the start to the system, and sets the garbage collector for a busy node.
func TuneForLoad() {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit("/sys/fs/cgroup/memory.max"))
	}
}

// memoryLimit returns nine tenths of the container's memory, in bytes. The rest is for memory that Go does not count.
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

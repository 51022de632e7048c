package boot

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Collecting garbage less often is worth a quarter of the throughput. The memory limit takes over when memory gets
// scarce. Both yield to GOGC and GOMEMLIMIT.
//
// Until a node is ready, garbage is collected more often. Otherwise what the start leaves behind is scattered over
// pages that stay in use: a tenth of the memory of an idle node.
const (
	startPercent       = 30
	garbagePercent     = 400
	defaultMemoryLimit = 1 << 30 // bytes
)

// TuneForStart collects garbage often. It holds until TuneForLoad.
func TuneForStart() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startPercent)
	}
}

// TuneForLoad returns the memory that the start took to the system, and collects garbage as a busy node should.
func TuneForLoad() {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit("/sys/fs/cgroup/memory.max"))
	}
}

// memoryLimit is nine tenths of the container's memory, in bytes. The rest is for what Go does not count.
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

package boot

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
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

// TuneForLoad returns the memory of the start to the system, and sets the garbage collector for a busy node. It fails
// if AUTOMEMLIMIT is set and cannot be understood.
func TuneForLoad() error {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	_, err := memlimit.Set(memlimit.WithRatio(1), memlimit.WithProvider(memoryLimit(memlimit.FromCgroup)))
	if err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	return nil
}

// memoryLimit gives nine tenths of the container's memory, in bytes. The rest is for memory that Go does not count.
func memoryLimit(container memlimit.Provider) memlimit.Provider {
	return memlimit.ApplyFallback(memlimit.ApplyRatio(container, 0.9), memlimit.Limit(defaultMemoryLimit))
}

package campaign

import (
	"os"
	"regexp"
	"strconv"
	"time"
)

const (
	// settleTime is how long after a fault its effects last: connections are opened again, and requests that waited
	// for them are answered.
	settleTime = 3 * time.Second
	// busyProcessor is the share of the last ten seconds in which some process waited for a processor, in percent, from
	// which a call may take too long for that reason.
	busyProcessor = 60
)

// blame returns why a call may have had no response in time: a fault, or a busy processor. It returns "" if neither
// explains it.
func blame(begun, ended time.Time, faults []span, pressure float64) string {
	for _, f := range faults {
		if !begun.After(f.to.Add(settleTime)) && !ended.Before(f.from) {
			return "during a fault"
		}
	}
	if pressure >= busyProcessor {
		return "with a busy processor"
	}
	return ""
}

// span is when a fault was active.
type span struct{ from, to time.Time }

var someWaited = regexp.MustCompile(`some avg10=([0-9.]+)`)

// processorPressure returns the share of the last ten seconds in which some process waited for a processor, in percent.
// It is 0 where the kernel does not tell. See https://docs.kernel.org/accounting/psi.html.
func processorPressure() float64 {
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	return parsePressure(string(text))
}

func parsePressure(text string) float64 {
	found := someWaited.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	share, _ := strconv.ParseFloat(found[1], 64)
	return share
}

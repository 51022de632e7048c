//go:build race

package simulate

// seedCount is lower with the race detector, which is slow. Each simulation runs on one goroutine.
const seedCount = 500

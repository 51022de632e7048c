//go:build !race

package simulate

// seedCount is the number of short simulations.
const seedCount = 2_000

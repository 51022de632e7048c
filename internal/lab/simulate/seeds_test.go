//go:build !race

package simulate

// seeds is how many short lives are tried.
const seeds = 2_000

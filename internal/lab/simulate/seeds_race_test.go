//go:build race

package simulate

// seeds are fewer where every access to memory is watched: nothing here runs beside anything else.
const seeds = 500

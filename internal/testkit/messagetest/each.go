package messagetest

import "testing"

// Each tests every case of a table in parallel, each in a studio of its own.
func Each[C any](t *testing.T, cases map[string]C, run func(studio *Studio, one C)) {
	t.Helper()
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(New(t), one)
		})
	}
}

// Subtests runs tests in parallel, by their names, each in a studio of its own.
func Subtests(t *testing.T, tests map[string]func(*Studio)) {
	t.Helper()
	Each(t, tests, func(studio *Studio, run func(*Studio)) { run(studio) })
}

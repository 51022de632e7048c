package testkit

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

// EachRace is Each with studios whose transactions go through a barrier.
func EachRace[C any](t *testing.T, cases map[string]C, run func(b *Barrier, studio *Studio, one C)) {
	t.Helper()
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, studio := NewRace(t)
			run(b, studio, one)
		})
	}
}

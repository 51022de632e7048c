// Package order has a test that depends on another one.
package order

import "testing"

var ready bool

func TestFirst(t *testing.T) { ready = true }

func TestSecond(t *testing.T) {
	if !ready {
		t.Error("TestFirst has not run")
	}
}

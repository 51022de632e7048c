package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// steps tells people what is going on, each line with the time since the start.
type steps struct {
	to    io.Writer
	start time.Time
	mu    sync.Mutex
}

func newSteps(to io.Writer) *steps { return &steps{to: to, start: time.Now()} }

func (s *steps) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.to, "%7.2f s  %s\n", time.Since(s.start).Seconds(), line)
}

// timed runs a step and tells how long it took.
func (s *steps) timed(what string, do func() error) error {
	begun := time.Now()
	if err := do(); err != nil {
		return err
	}
	s.say(fmt.Sprintf("%s (%.2f s)", what, time.Since(begun).Seconds()))
	return nil
}

package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress prints what a command is doing, one line per step. Each line begins with the time since the start.
type Progress struct {
	to    io.Writer
	start time.Time
	mu    sync.Mutex
}

// NewProgress returns a Progress that measures time from now.
func NewProgress(to io.Writer) *Progress { return &Progress{to: to, start: time.Now()} }

// Say prints a line. It is safe for concurrent use.
func (p *Progress) Say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.to, "%7.2f s  %s\n", time.Since(p.start).Seconds(), line)
}

// Timed runs a step and prints how long it took. It prints nothing for a step that fails.
func (p *Progress) Timed(step string, run func() error) error {
	begun := time.Now()
	if err := run(); err != nil {
		return err
	}
	p.Say(fmt.Sprintf("%s (%.2f s)", step, time.Since(begun).Seconds()))
	return nil
}

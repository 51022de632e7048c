package main

import (
	"context"
	"os"
	"time"

	"github.com/berthhq/berth/internal/lab/bench"
)

// floodCommand is the other tenant in a measurement of bench, which starts it.
type floodCommand struct {
	Work    string   `arg:""`
	Address string   `arg:""`
	Tokens  []string `arg:""`
}

// Run implements kong's command.
func (c *floodCommand) Run(ctx context.Context) error {
	return bench.Flood(ctx, c.Work, c.Address, c.Tokens)
}

// paceCommand is the quiet tenant in a measurement of bench, which starts it.
type paceCommand struct {
	Work    string        `arg:""`
	Via     string        `arg:""`
	Address string        `arg:""`
	Token   string        `arg:""`
	Length  time.Duration `arg:""`
}

// Run implements kong's command.
func (c *paceCommand) Run(ctx context.Context) error {
	return bench.Pace(ctx, c.Work, c.Via, c.Address, c.Token, c.Length, os.Stdout)
}

package main

import (
	"context"

	"github.com/berthhq/berth/internal/lab/bench"
)

// floodCommand is the other tenant in a measurement of bench, which starts it.
type floodCommand struct {
	Address string `arg:""`
	Token   string `arg:""`
}

// Run implements kong's command.
func (c *floodCommand) Run(ctx context.Context) error { return bench.Flood(ctx, c.Address, c.Token) }

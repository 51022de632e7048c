package main

import (
	"context"
	"errors"

	"github.com/berthhq/berth/tools/testlab/shuffle"
)

// shuffleCommand runs tests many times, each time in another order.
type shuffleCommand struct {
	Packages []string `arg:"" help:"Patterns of packages."`
	Runs     int      `help:"Runs of each package." default:"20"`
	Race     bool     `help:"Use the race detector." default:"true" negatable:""`
	Dir      string   `help:"Where results are kept. Runs in it are not repeated." default:".shuffle"`
}

// Run implements kong's command.
func (c *shuffleCommand) Run(ctx context.Context, to *console) error {
	if c.Runs < 1 {
		return errors.New("nothing to run: --runs is at least 1")
	}
	return shuffle.Run(ctx, shuffle.Options{
		Packages: c.Packages, Runs: c.Runs, Race: c.Race, Dir: c.Dir, Say: to.say,
	}, to.out)
}

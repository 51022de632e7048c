package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/lab/simulate"
)

// simulateCommand simulates tenants for years of virtual time, and checks every invariant after each step.
type simulateCommand struct {
	Seed  uint64  `help:"The first seed." default:"1"`
	Seeds uint64  `help:"Number of simulations, with consecutive seeds." default:"1"`
	Years float64 `help:"Length of each simulation, in years of 365 days." default:"10"`
	Days  int     `help:"Length of each simulation in days, instead of years."`
	Small bool    `help:"Simulate a few people who compete for few seats, instead of a busy tenant."`
}

// Run implements kong's command.
func (c *simulateCommand) Run(ctx context.Context, to *cli.Console) error {
	const day = 24 * time.Hour
	length := time.Duration(c.Years * 365 * float64(day))
	if c.Days > 0 {
		length = time.Duration(c.Days) * day
	}
	if length <= 0 || c.Seeds == 0 {
		return errors.New("nothing to simulate: give --years or --days, and --seeds")
	}
	size, name := simulate.Busy, ""
	if c.Small {
		size, name = simulate.Small, "--small "
	}
	began, shown := time.Now(), time.Now()
	var sum simulate.Report
	for seed := c.Seed; seed-c.Seed < c.Seeds; seed++ {
		progress := func(at time.Time, r simulate.Report) {
			if time.Since(shown) >= 5*time.Second {
				shown = time.Now()
				fmt.Fprintf(to.Err, "seed %d, %s: %d transactions, %d bookings\n",
					seed, at.UTC().Format(time.DateOnly), r.Transactions, r.Bookings)
			}
		}
		report, err := simulate.Run(ctx, simulate.Options{Seed: seed, Length: length, Size: size, Progress: progress})
		if failure := new(simulate.Failure); errors.As(err, &failure) {
			return fmt.Errorf("%w\nrepeat with: %s simulate %s--seed %d --days %d",
				failure, invocation, name, seed, length/day)
		}
		if err != nil {
			return err
		}
		sum = sum.Sum(report)
	}
	took := time.Since(began)
	_, err := fmt.Fprintf(to.Out, "✓ every invariant held in %d simulations, %.1f years in total\n"+
		"%s%.0f transactions a second, %.0f simulated years an hour\n",
		c.Seeds, years(sum.Length), sum, float64(sum.Transactions)/took.Seconds(), years(sum.Length)/took.Hours())
	return err
}

func years(d time.Duration) float64 { return d.Hours() / 24 / 365 }

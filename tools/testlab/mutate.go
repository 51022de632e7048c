package main

import (
	"context"
	"time"

	"github.com/berthhq/berth/tools/testlab/mutate"
)

// mutateCommand changes the product in small ways, and runs the tests that should notice.
type mutateCommand struct {
	Run    mutateRun    `cmd:"" default:"withargs" help:"Draw mutants of packages, and test them. It continues where it was stopped."`
	Report mutateReport `cmd:"" help:"Print the report of all results again."`
	Fixed  mutateFixed  `cmd:"" help:"Test the mutants that tests must kill."`
	Check  mutateCheck  `cmd:"" help:"Check that the lists of fixed and of equivalent mutants fit the code."`
	Sample mutateSample `cmd:"" help:"Test mutants for some minutes. The code decides which. Survivors do not fail it."`
}

// mutateRun draws mutants of packages.
type mutateRun struct {
	Packages []string      `arg:"" help:"Patterns of packages. ./migrations stands for the migrated database."`
	Tests    []string      `help:"Tests that run, as folder or folder:pattern, the nearest first, instead of those near each package." sep:"none"`
	Seed     uint64        `help:"Decides which mutants are drawn. 0: the code decides." default:"1"`
	Count    int           `short:"n" help:"Number of mutants." default:"100"`
	Jobs     int           `help:"Number of mutants that are tested at once." default:"1"`
	Grace    time.Duration `help:"Beyond five times as long as without the mutant, how long tests may take." default:"30s"`
	Dir      string        `help:"Where results are kept." default:".mutate"`
}

// Run implements kong's command.
func (c *mutateRun) Run(ctx context.Context, to *console) error {
	return runMutants(ctx, to, mutate.Options{
		Packages: c.Packages, Tests: c.Tests, Seed: c.Seed, Count: c.Count, Jobs: c.Jobs, Grace: c.Grace, Dir: c.Dir,
	})
}

// mutateSample tests mutants of rules for a while.
type mutateSample struct {
	For  time.Duration `help:"How long." default:"1m"`
	Jobs int           `help:"Number of mutants that are tested at once." default:"2"`
	Dir  string        `help:"Where results are kept." default:".mutate"`
}

// Run implements kong's command.
func (c *mutateSample) Run(ctx context.Context, to *console) error {
	return runMutants(ctx, to, mutate.Options{
		Packages: mutate.Sampled, Count: 100, Jobs: c.Jobs, Limit: c.For, Dir: c.Dir,
	})
}

func runMutants(ctx context.Context, to *console, o mutate.Options) error {
	o.Say = to.say
	report, err := mutate.Run(ctx, o)
	if err != nil {
		return err
	}
	return report.Write(to.out)
}

// mutateReport prints the results of all runs.
type mutateReport struct {
	Dir string `help:"Where results are kept." default:".mutate"`
}

// Run implements kong's command.
func (c *mutateReport) Run(to *console) error {
	report, err := mutate.Read(c.Dir)
	if err != nil {
		return err
	}
	return report.Write(to.out)
}

// mutateFixed tests the mutants that tests must kill.
type mutateFixed struct {
	Jobs int    `help:"Number of mutants that are tested at once." default:"2"`
	Dir  string `help:"Where results without mutants are kept." default:".mutate"`
}

// Run implements kong's command.
func (c *mutateFixed) Run(ctx context.Context, to *console) error {
	return mutate.RunFixed(ctx, mutate.Options{Jobs: c.Jobs, Dir: c.Dir, Say: to.say})
}

// mutateCheck compares the lists with the code.
type mutateCheck struct{}

// Run implements kong's command.
func (c *mutateCheck) Run(ctx context.Context, to *console) error {
	err := mutate.Check(ctx, "")
	if err == nil {
		to.say("all entries fit the code")
	}
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/lab/campaign"
)

// campaignCommand checks that no promise is broken while servers, Postgres and the connections between them fail.
type campaignCommand struct {
	For      time.Duration `default:"2m" help:"How long faults are injected."`
	Seed     uint64        `help:"Seed of the faults and of the requests. Default: random."`
	Segments int           `help:"Run this many campaigns, with the seeds from --seed on, and add each to the ledger. Those in it are skipped."`
	Ledger   string        `type:"path" default:"docs/verification.md" help:"The Markdown file with the ledger."`
	Nodes    int           `default:"3" help:"Number of servers."`
	Workers  int           `default:"1" help:"Number of workers, which send messages."`
	Callers  int           `default:"12" help:"Number of concurrent gRPC callers."`
	Berth    string        `type:"existingfile" placeholder:"FILE" help:"The berth binary to test. Default: built from this source tree."`
	Keep     bool          `help:"Keep the folder even if the campaign succeeds."`
	Folder   string        `type:"path" placeholder:"DIR" help:"A new folder for Postgres, logs and histories. Default: a temporary one."`
}

// longestSegment keeps what a failure has to be found in small.
const longestSegment = 20 * time.Minute

// Run implements kong's command.
func (c *campaignCommand) Run(ctx context.Context, to *cli.Console) error {
	switch {
	case c.Nodes < 1 || c.Workers < 1 || c.Callers < 1:
		return errors.New("a campaign needs at least one server, one worker and one caller")
	case c.Segments > 0 && c.For > longestSegment:
		return fmt.Errorf("a segment takes at most %s: use --for %s, and more segments", longestSegment, longestSegment)
	case c.Segments > 0 && (c.Seed == 0 || c.Folder != ""):
		return errors.New("segments need --seed, and a folder each: leave out --folder")
	}
	if c.Berth == "" {
		built, err := os.MkdirTemp("", "berth-lab-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(built)
		if c.Berth, err = campaign.BuildServer(ctx, built); err != nil {
			return fmt.Errorf("%w\nor name a binary: --berth FILE", err)
		}
	}
	if c.Segments > 0 {
		return c.runSegments(ctx, to)
	}
	if c.Seed == 0 {
		c.Seed = uint64(rand.Uint32())
	}
	_, err := c.run(ctx, to)
	return err
}

// runSegments runs the campaigns that are not in the ledger, and adds each to it, also those that fail.
func (c *campaignCommand) runSegments(ctx context.Context, to *cli.Console) error {
	ledger := campaign.Ledger{File: c.Ledger}
	done, err := ledger.Seeds()
	if err != nil {
		return err
	}
	var failed []error
	for end := c.Seed + uint64(c.Segments); c.Seed < end; c.Seed++ {
		if done[c.Seed] {
			continue
		}
		report, err := c.run(ctx, to)
		if err != nil && len(report.Failures) == 0 {
			return err // it did not run to its end
		}
		failed = append(failed, err)
		if err := ledger.Add(report, time.Now()); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// run runs one campaign. Failures are an error, too.
func (c *campaignCommand) run(ctx context.Context, to *cli.Console) (campaign.Report, error) {
	folder := c.Folder
	if folder == "" {
		parent, err := os.MkdirTemp("", "berth-campaign-")
		if err != nil {
			return campaign.Report{}, err
		}
		if err := os.Chmod(parent, 0o711); err != nil { //nolint:gosec // Postgres's user has to enter
			return campaign.Report{}, err
		}
		folder = filepath.Join(parent, "site")
	}
	progress := cli.NewProgress(to.Out)
	report, err := campaign.Run(ctx, campaign.Config{
		Seed: c.Seed, For: c.For, Nodes: c.Nodes, Workers: c.Workers, Callers: c.Callers,
		Binary: c.Berth, Folder: folder, Say: progress.Say,
	})
	again := fmt.Sprintf("%s campaign --seed %d --for %s --nodes %d --workers %d --callers %d",
		invocation, c.Seed, c.For, c.Nodes, c.Workers, c.Callers)
	if err != nil {
		return campaign.Report{}, fmt.Errorf("%w\nlogs and histories are in %s; repeat with: %s", err, folder, again)
	}
	if err := report.Print(to.Out); err != nil {
		return report, err
	}
	if n := len(report.Failures); n > 0 {
		return report, fmt.Errorf("%d failures; logs and histories are in %s; repeat with: %s", n, folder, again)
	}
	if c.Keep {
		_, err := fmt.Fprintln(to.Out, "kept in", folder)
		return report, err
	}
	if c.Folder == "" {
		folder = filepath.Dir(folder)
	}
	return report, os.RemoveAll(folder)
}

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
	For     time.Duration `default:"2m" help:"How long faults are injected."`
	Seed    uint64        `help:"Seed of the faults and of the requests. Default: random."`
	Nodes   int           `default:"3" help:"Number of servers."`
	Workers int           `default:"1" help:"Number of workers, which send messages."`
	Callers int           `default:"12" help:"Number of concurrent gRPC callers."`
	Berth   string        `type:"existingfile" placeholder:"FILE" help:"The berth binary to test. Default: built from this source tree."`
	Keep    bool          `help:"Keep the folder even if the campaign succeeds."`
	Folder  string        `type:"path" placeholder:"DIR" help:"A new folder for Postgres, logs and histories. Default: a temporary one."`
}

// Run implements kong's command.
func (c *campaignCommand) Run(ctx context.Context, to *cli.Console) error {
	if c.Nodes < 1 || c.Workers < 1 || c.Callers < 1 {
		return errors.New("a campaign needs at least one server, one worker and one caller")
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
	if c.Seed == 0 {
		c.Seed = uint64(rand.Uint32())
	}
	folder := c.Folder
	if folder == "" {
		parent, err := os.MkdirTemp("", "berth-campaign-")
		if err != nil {
			return err
		}
		if err := os.Chmod(parent, 0o711); err != nil { //nolint:gosec // Postgres's user has to enter
			return err
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
		return fmt.Errorf("%w\nlogs and histories are in %s; repeat with: %s", err, folder, again)
	}
	if err := report.Print(to.Out); err != nil {
		return err
	}
	if len(report.Failures) > 0 {
		return fmt.Errorf("%d failures; logs and histories are in %s; repeat with: %s", len(report.Failures), folder, again)
	}
	if c.Keep {
		_, err := fmt.Fprintln(to.Out, "kept in", folder)
		return err
	}
	if c.Folder == "" {
		folder = filepath.Dir(folder)
	}
	return errors.Join(err, os.RemoveAll(folder))
}

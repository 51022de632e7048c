package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/lab/bench"
)

// benchCommand measures bookings and shows the medians.
type benchCommand struct {
	bench.Options `embed:""`

	JSON string `type:"path" placeholder:"FILE" help:"Write all runs to this file."`
	HTML string `type:"path" placeholder:"FILE" help:"Write a self-contained page with plots to this file."`
}

// Run implements kong's command.
func (c *benchCommand) Run(ctx context.Context, to *cli.Console) error {
	report, err := bench.Run(ctx, c.Options, cli.NewProgress(to.Out).Say)
	if err != nil {
		return err
	}
	report.Command = invocation + " " + strings.Join(os.Args[1:], " ")
	fmt.Fprintln(to.Out)
	if err := report.WriteTable(to.Out); err != nil {
		return err
	}
	for path, write := range map[string]func(io.Writer) error{c.JSON: report.WriteJSON, c.HTML: report.WritePage} {
		if err := writeTo(path, write); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		fmt.Fprintf(to.Out, "\nPlots: file://%s\n", c.HTML)
	}
	return nil
}

// writeTo writes a file. It writes nothing if the path is empty.
func writeTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // numbers are no secret
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

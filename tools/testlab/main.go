// Testlab measures the tests: whether they notice that the product is changed, and whether they depend on their order.
// It knows the product by its source only, and is a module of its own.
//
//	go -C tools/testlab run . -C $PWD mutate|shuffle
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// commands is the command line.
type commands struct {
	Folder  string         `short:"C" type:"existingdir" default:"." help:"Folder of the product. Other folders are relative to it."`
	Mutate  mutateCommand  `cmd:"" help:"Change the product in small ways, and see whether the tests notice."`
	Shuffle shuffleCommand `cmd:"" help:"Run tests many times, each time in another order. It continues where it was stopped."`
}

// console is where a command prints: results to out, and how far it is to err.
type console struct {
	out, err io.Writer
	start    time.Time
	mu       sync.Mutex
}

// say prints a line after the time since the start. It is safe for concurrent use.
func (c *console) say(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.err, "%7.2f s  %s\n", time.Since(c.start).Seconds(), line)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	var all commands
	command := kong.Parse(&all, kong.Name("testlab"), kong.Description("Measures the tests."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(&console{out: os.Stdout, err: os.Stderr, start: time.Now()}))
	err := os.Chdir(all.Folder)
	if err == nil {
		err = command.Run()
	}
	if !errors.Is(err, context.Canceled) || ctx.Err() == nil {
		command.FatalIfErrorf(err)
	}
}

// Package cli runs the command lines of the server and of the lab.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Program is a command line.
type Program struct {
	Name        string
	Description string
	Commands    any // a pointer to a struct of commands, as kong reads it
}

// Console is where a command prints: results to Out, logs and progress of long runs to Err.
type Console struct{ Out, Err io.Writer }

// Main runs the arguments of the process and exits with the status. SIGINT and SIGTERM cancel the command's context.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	os.Exit(p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs one command and returns the exit status. A command that ctx ends has succeeded.
// The methods Run of the commands can take a context.Context and a *Console.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	parser, err := kong.New(p.Commands,
		kong.Name(p.Name),
		kong.Description(p.Description),
		kong.Vars{"version": Version()},
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(&Console{Out: stdout, Err: stderr}),
		kong.KindMapper(reflect.Bool, Switch{}),
		kong.Exit(func(int) { panic(helped{}) }),
	)
	if err != nil {
		panic(err) // the struct of commands is invalid
	}
	defer func() {
		if value := recover(); value != nil && value != (helped{}) {
			panic(value)
		}
	}()
	command, err := parser.Parse(args)
	if err == nil {
		err = command.Run()
	}
	if err == nil || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
	return 1
}

// Switch reads a flag or a variable that is on or off.
type Switch struct{}

// Decode implements kong.Mapper.
func (Switch) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		target.SetBool(true)
		return nil
	}
	text := fmt.Sprint(ctx.Scan.Pop().Value)
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1":
		target.SetBool(true)
	case "off", "false", "no", "0":
		target.SetBool(false)
	default:
		return fmt.Errorf("it is on or off, not %q", text)
	}
	return nil
}

// IsBool implements kong.BoolMapper: the flag needs no value.
func (Switch) IsBool() bool { return true }

// helped stops parsing a command line after the help or the version was printed.
type helped struct{}

// Version returns the version of the module, the commit and the version of Go, as far as the build recorded them.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return info.Main.Version + " " + setting.Value + " " + info.GoVersion
		}
	}
	return info.Main.Version + " " + info.GoVersion
}

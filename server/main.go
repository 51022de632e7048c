// The berth command runs Berth: the booking platform that gives everyone their place.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // tenants' zones, wherever the binary runs

	"github.com/alecthomas/kong"
)

// commands is the command line.
type commands struct {
	Serve    serveCommand    `cmd:"" help:"Serve the API, on a database that somebody runs."`
	Worker   workerCommand   `cmd:"" help:"Send messages and do what falls due, and answer nobody."`
	Dev      devCommand      `cmd:"" help:"Start everything for development: Postgres, migrations, demo data, server."`
	Migrate  migrateCommand  `cmd:"" help:"Bring the database's schema up to date."`
	Tenant   tenantCommand   `cmd:"" help:"Create a tenant."`
	Token    tokenCommand    `cmd:"" help:"Issue a token with this server's own key."`
	Verify   verifyCommand   `cmd:"" help:"Prove that what must never happen has not happened, over all data."`
	Doctor   doctorCommand   `cmd:"" help:"Examine database, keys and configuration, and say what to change."`
	Simulate simulateCommand `cmd:"" help:"Let tenants live for years in virtual time, and compare each step with a model."`
	Bench    benchCommand    `cmd:"" help:"Measure bookings over gRPC beside pgbench sending the same SQL."`
	Campaign campaignCommand `cmd:"" help:"Kill, cut and slow down servers and Postgres under load, and prove that nothing was lost."`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main for tests: it gives the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	parser, err := kong.New(new(commands),
		kong.Name("berth"),
		kong.Description("Berth gives everyone their place: sessions, bookings, credits, check-in and a fair waitlist, over gRPC, gRPC-Web and Connect."),
		kong.Vars{"version": version()},
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(&console{out: stdout, err: stderr}),
		kong.Exit(func(int) { panic(helped{}) }),
	)
	if err != nil {
		panic(err) // a command line that is wrong in itself
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
	fmt.Fprintln(stderr, "berth:", err)
	return 1
}

// helped ends the parsing of a command line that asked for help or for the version.
type helped struct{}

// console is where commands write to people and to other programs.
type console struct{ out, err io.Writer }

func version() string {
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

// The berth command runs Berth: the booking platform that gives everyone their place.
package main

import (
	_ "time/tzdata" // tenants' time zones, on systems that have none

	"github.com/alecthomas/kong"

	"github.com/berthhq/berth/internal/cli"
)

// commands is the command line.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Serve the API, on a database that somebody runs."`
	Worker  workerCommand  `cmd:"" help:"Send messages and do what falls due, and answer nobody."`
	Dev     devCommand     `cmd:"" help:"Start everything for development: Postgres, migrations, demo data, server."`
	Migrate migrateCommand `cmd:"" help:"Bring the database's schema up to date."`
	Tenant  tenantCommand  `cmd:"" help:"Create a tenant."`
	Token   tokenCommand   `cmd:"" help:"Issue a token with this server's own key."`
	Verify  verifyCommand  `cmd:"" help:"Prove that what must never happen has not happened, over all data."`
	Doctor  doctorCommand  `cmd:"" help:"Examine database, keys and configuration, and say what to change."`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() { program().Main() }

// program returns a new command line: parsing fills it in.
func program() cli.Program {
	return cli.Program{
		Name: "berth",
		Description: "Berth gives everyone their place: " +
			"sessions, bookings, credits, check-in and a fair waitlist, over gRPC, gRPC-Web and Connect.",
		Commands: new(commands),
	}
}

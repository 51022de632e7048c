// The berth command runs Berth: the booking platform that gives everyone their place.
package main

import (
	_ "time/tzdata" // tenants' time zones, on systems that have none

	"github.com/alecthomas/kong"

	"github.com/berthhq/berth/internal/cli"
)

// commands is the command line.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Serve the API with an existing database."`
	Worker  workerCommand  `cmd:"" help:"Send messages and do scheduled work, without serving the API."`
	Dev     devCommand     `cmd:"" help:"Start everything for development: Postgres, migrations, demo data, server."`
	Migrate migrateCommand `cmd:"" help:"Update the database schema."`
	Tenant  tenantCommand  `cmd:"" help:"Create a tenant, or invite its owner again."`
	Token   tokenCommand   `cmd:"" help:"Issue a token with this server's own key."`
	Keys    keysCommand    `cmd:"" help:"Rotate the keys and secrets in files."`
	Verify  verifyCommand  `cmd:"" help:"Check every invariant over all data."`
	Doctor  doctorCommand  `cmd:"" help:"Check database, keys and configuration, and say what to change."`

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

// The lab tests and measures Berth: the rules in virtual time, servers under faults, and bookings under load. It is not
// part of the product.
//
//	go run ./internal/lab simulate|campaign|bench
package main

import (
	_ "time/tzdata" // time zones, on systems that have none

	"github.com/berthhq/berth/internal/cli"
)

// commands is the command line.
type commands struct {
	Simulate simulateCommand `cmd:"" help:"Simulate tenants for years of virtual time, and compare each step with a model."`
	Campaign campaignCommand `cmd:"" help:"Inject faults into servers, Postgres and connections under load, and check that nothing was lost."`
	Bench    benchCommand    `cmd:"" help:"Measure bookings, and compare them with pgbench that sends the same SQL."`
	Flood    floodCommand    `cmd:"" hidden:""`
	Pace     paceCommand     `cmd:"" hidden:""`
}

// invocation is how people call the lab. Failures print it with the options that repeat them.
const invocation = "go run ./internal/lab"

func main() { program().Main() }

// program returns a new command line: parsing fills it in.
func program() cli.Program {
	return cli.Program{
		Name:        "lab",
		Description: "Tests Berth with simulations and faults, and measures it.",
		Commands:    new(commands),
	}
}

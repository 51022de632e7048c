// The lab tries to prove Berth wrong, and measures it: rules in virtual time, servers under faults, bookings under
// load. It is not part of the product.
//
//	go run ./internal/lab simulate|campaign|bench
package main

import (
	_ "time/tzdata" // time zones, on systems that have none

	"github.com/berthhq/berth/internal/cli"
)

// commands is the command line.
type commands struct {
	Simulate simulateCommand `cmd:"" help:"Let tenants live for years in virtual time, and compare each step with a model."`
	Campaign campaignCommand `cmd:"" help:"Kill, cut and slow down servers and Postgres under load, and prove that nothing was lost."`
	Bench    benchCommand    `cmd:"" help:"Measure bookings over gRPC beside pgbench sending the same SQL."`
}

// invocation is how people call the lab. Failures print it with the options that repeat them.
const invocation = "go run ./internal/lab"

func main() { program().Main() }

// program returns a new command line: parsing fills it in.
func program() cli.Program {
	return cli.Program{
		Name:        "lab",
		Description: "Tries to prove Berth wrong, and measures it.",
		Commands:    new(commands),
	}
}

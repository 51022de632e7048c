package mutate

import (
	"slices"
	"strings"
)

// What the tool knows about the product: its folders, and the functions of which it cannot see what they do.

// database is the package whose mutants are those of the migrated database.
const database = "migrations"

// Sampled are the packages whose tests are quick.
var Sampled = []string{"./internal/rules/...", "./internal/civil", "./internal/access", "./internal/token"}

// guarded are the packages of admission and of cryptography.
var guarded = []string{
	"internal/rpc", "internal/rpc/admission", "internal/access", "internal/traffic",
	"internal/token", "internal/seal", "internal/secret",
}

// symmetric has functions whose result does not depend on the order of their arguments, or not in a way that matters.
var symmetric = []string{
	"min", "max", "make", "errors.Join", "reflect.DeepEqual", "slices.Equal", "maps.Equal", "bytes.Equal",
	"strings.EqualFold", "strings.ContainsAny", "settings.OneOf", "hmac.Equal", "subtle.ConstantTimeCompare",
	"earliest", "latest", "Distance", "ChangedFields", "member.ChangedFields",
}

// isRule reports whether a folder is about rules and days. Elsewhere a duration sets a pace.
func isRule(folder string) bool { return isIn(folder, "internal/rules", "internal/civil") }

// hasSQL reports whether the Go code of a folder contains SQL.
func hasSQL(folder string) bool { return isIn(folder, "internal/data", "internal/pg") }

// isProduct reports whether a folder's code is part of the product, and not generated.
func isProduct(folder string) bool {
	return !strings.HasSuffix(folder, "test") && !isIn(folder, "gen", "internal/gen", "internal/lab", "internal/pgproxy",
		"internal/pgtest", "internal/supplychain", "internal/testkit", "clients", "server/demo", database)
}

// isIn reports whether a folder is one of others, or in one.
func isIn(folder string, others ...string) bool {
	return slices.ContainsFunc(others, func(other string) bool {
		return folder == other || strings.HasPrefix(folder, other+"/")
	})
}

// answers has the tests of the whole server that are about answers. The others are about processes, and take minutes.
// So do the sweep over what a tenant reads of others, which is about statements, and odd input, which is for handlers.
const (
	answers = "server:^(TestEvery(RPC_(Fails|Allows)|Mutation_Happens)|" + stories
	server  = "server:^(TestEvery(RPC_(Fails|Allows|Reveals)|Mutation_Happens)|" + stories
	stories = "TestRecording$|TestSelf|TestPublic|TestFreedSeat|TestExplain|TestPageTokens)"
	odd     = "server:^TestEveryRPC_HandlesOddValues"
)

// near has the tests that are run for a mutant, after those of its own package, from the nearest to the farthest. The
// first prefix that fits decides. What follows a colon is a pattern of tests.
var near = []struct {
	prefix string
	tests  []string
}{
	{"internal/pg", []string{"internal/data", "internal/data/outbox", "internal/app/engine", "internal/app/bookings"}},
	{"internal/alarm", []string{"internal/data/outbox", "internal/app/housekeeping", "internal/app/waitlists"}},
	{"internal/data/outbox", []string{"internal/worker", "internal/app/messages", "internal/rpc", answers}},
	{"internal/data/bookingdb", []string{
		"internal/app/bookings", "internal/app/waitlists", "internal/app/schedules", "internal/app/accounts",
		"internal/app/housekeeping", "internal/rpc", server,
	}},
	{"internal/data/waitlistdb", []string{
		"internal/app/waitlists", "internal/app/schedules", "internal/app/housekeeping", "internal/rpc", server,
	}},
	{"internal/data/scheduledb", []string{
		"internal/app/schedules", "internal/app/bookings", "internal/app/waitlists", "internal/rpc", server,
	}},
	{"internal/data/messagedb", []string{"internal/app/messages", "internal/app/waitlists", "internal/rpc", server}},
	{"internal/data/accountdb", []string{
		"internal/app/accounts", "internal/app/messages", "internal/access", "internal/rpc", server,
	}},
	{"internal/data/catalogdb", []string{"internal/app/catalog", "internal/app/settings", "internal/rpc", server}},
	{"internal/data/coredb", []string{
		"internal/app/engine", "internal/app/bookings", "internal/app/settings", "internal/app/accounts",
		"internal/app/waitlists", "internal/app/schedules", "internal/app/housekeeping", "internal/rpc", server,
	}},
	{"internal/app/record", []string{"internal/app/accounts", "internal/app/catalog", "internal/rpc", answers}},
	{"internal/app/credits", []string{"internal/app/accounts", "internal/app/bookings", "internal/rpc", answers}},
	{"internal/app/seats", []string{
		"internal/app/bookings", "internal/app/waitlists", "internal/app/schedules", "internal/rpc", answers,
	}},
	{"internal/app/engine", []string{
		"internal/app/engine", "internal/app/bookings", "internal/app/housekeeping", answers,
	}},
	{"internal/app/idempotency", []string{"internal/app/engine", "internal/app/bookings", answers}},
	{"internal/app/quota", []string{"internal/app/engine", "internal/app", answers}},
	{"internal/app/accounts", []string{"internal/app", "internal/app/messages", "internal/rpc", answers}},
	{"internal/app/bookings", []string{"internal/app/waitlists", "internal/rpc", answers}},
	{"internal/app/waitlists", []string{"internal/app/bookings", "internal/app/schedules", "internal/rpc", answers}},
	{"internal/app/catalog", []string{"internal/app/bookings", "internal/rpc", answers}},
	{"internal/app/contacts", []string{"internal/app/accounts", "internal/app/messages", "internal/rpc", answers}},
	{"internal/app/housekeeping", []string{
		"internal/app/waitlists", "internal/app/accounts", "internal/app/messages", "internal/rpc", answers,
	}},
	{"internal/app/schedules", []string{"internal/app", "internal/app/waitlists", "internal/rpc", answers}},
	{"internal/app/settings", []string{"internal/app/waitlists", "internal/rpc", answers}},
	{"internal/app", []string{"internal/rpc", answers}},
	{"internal/rpc", []string{"internal/rpc", answers, odd}},
	{"internal/web", []string{answers}},
	{"internal/boot", []string{answers}},
	{"internal/worker", []string{answers}},
	{"migrations", []string{
		"internal/data", "internal/app/engine", "internal/app/bookings", "internal/app/waitlists",
		"internal/app/schedules", "internal/app/accounts", "internal/app/catalog", "internal/app/settings",
		"internal/app/messages", "internal/app/housekeeping", "internal/rpc", server,
	}},
}

// testsFor returns the tests that may kill a mutant of a folder, in the order in which they run.
func testsFor(folder string) []string {
	tests := []string{folder}
	if strings.HasPrefix(folder, "internal/data/") {
		tests = append(tests, "internal/data") // it tests all of them in seconds
	}
	for _, row := range near {
		if folder == row.prefix || strings.HasPrefix(folder, row.prefix+"/") {
			for _, other := range row.tests {
				if other != folder {
					tests = append(tests, other)
				}
			}
			break
		}
	}
	return tests
}

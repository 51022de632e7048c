package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var updateRecording = flag.Bool("update", false, "write testdata/recording")

// An area is one part of the script. It has its own server, database and golden file, so that a difference is easy to
// locate.
type area struct {
	name   string
	script func() script
}

var areas = []area{
	{"booking", bookingScript},
	{"holds", holdsScript},
	{"waitlist", waitlistScript},
	{"offers", offersScript},
	{"sessions", sessionsScript},
	{"series", seriesScript},
	{"catalog", catalogScript},
	{"members", membersScript},
	{"roles", rolesScript},
	{"credits", creditsScript},
	{"check-in", checkInScript},
	{"notifications", notificationsScript},
	{"events", eventsScript},
	{"analytics", analyticsScript},
	{"audit", auditScript},
	{"errors", errorsScript},
	{"repeats", idempotencyScript},
}

// TestRecording checks that what users see does not change: the responses to all calls of a fixed script, and the
// events, messages, audit entries and ledgers that follow. `go test ./server -run TestRecording -update` accepts
// changes.
func TestRecording(t *testing.T) {
	t.Parallel()
	for _, a := range areas {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			r := newRecording(t)
			r.begin()
			a.script().play(r)
			r.end()
			if t.Failed() {
				return
			}
			path := goldenPath(a.name)
			if *updateRecording {
				must.NoError(t, os.WriteFile(path, []byte(r.text.String()), 0o600))
			}
			test.EqOp(t, "", diffLines(readFile(t, path), r.text.String()), test.Sprintf("the recording differs from %s", path))
		})
	}
}

// diffLines returns the lines that differ.
func diffLines(want, got string) string {
	type line string
	lines := func(text string) (all []line) {
		for one := range strings.Lines(text) {
			all = append(all, line(one))
		}
		return all
	}
	return cmp.Diff(lines(want), lines(got), cmp.Comparer(func(a, b line) bool { return a == b }))
}

func goldenPath(area string) string { return filepath.Join("testdata", "recording", area+".txt") }

// unprovokedReasons are the reasons that a script cannot cause reliably by calls.
var unprovokedReasons = map[string]string{
	"INTERNAL":             "a bug, or a broken database",
	"TENANT_NOT_FOUND":     "a caller who may read a tenant has a membership in it, and tenants are never deleted",
	"RATE_LIMITED":         "more calls than the limits of people allow",
	"CONTENTION":           "conflicts that last, or a database that fails",
	"CANCELED":             "the caller is gone and reads no response",
	"IMPORT_MISMATCH":      "a bug: files and ledgers add up to the same",
	"BULK_TOO_LARGE":       "thousands of sessions",
	"WATCHER_TOO_SLOW":     "more events than the buffers of the network hold",
	"INVITATION_REQUIRED":  "a sign-in service whose addresses the operator trusts: TestLinkMe_TakesVerifiedAddresses",
	"SIGN_IN_ENDED":        "no RPC: POST /auth/token answers it",
	"PASSKEY_INVALID":      "no RPC: POST /auth/passkey answers it",
	"SIGN_IN_CODE_INVALID": "no RPC: POST /auth/sign-in answers it",
}

// The script calls every RPC successfully, and causes every error reason that can be caused reliably.
func TestRecording_CoversContract(t *testing.T) {
	t.Parallel()
	succeeded, refused := make(map[string]bool), make(map[string]bool)
	exchange := regexp.MustCompile(`(?m)^\S+ → (\w+/\w+).*\n(?:[^←].*\n)*← (?:OK|\w+ (\w+))`)
	for _, a := range areas {
		for _, found := range exchange.FindAllStringSubmatch(readFile(t, goldenPath(a.name)), -1) {
			if succeeded[found[1]] = succeeded[found[1]] || found[2] == ""; found[2] != "" {
				refused[found[2]] = true
			}
		}
	}
	for _, method := range methodsByRequest() {
		name := shortName(method)
		test.True(t, succeeded[name], test.Sprintf("%s never succeeds", name))
	}
	for number, name := range v1.ErrorReason_name {
		reason := strings.TrimPrefix(name, "ERROR_REASON_")
		_, excused := unprovokedReasons[reason]
		test.False(
			t, number != 0 && refused[reason] == excused,
			test.Sprintf("%s: caused: %t, excused: %t", reason, refused[reason], excused),
		)
	}
	files := expect.Value(os.ReadDir(filepath.Dir(goldenPath(""))))(t)
	for _, file := range files {
		test.True(
			t, slices.ContainsFunc(areas, func(a area) bool { return a.name+".txt" == file.Name() }),
			test.Sprintf("%s belongs to no area", file.Name()),
		)
	}
}

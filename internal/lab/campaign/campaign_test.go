package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A short campaign in every run of the tests, and a longer one in CI. For a long one: make campaign ARGS="--for 3h".
const (
	campaignSeed       = 2027
	campaignLength     = 45 * time.Second
	campaignLengthOfCI = 2 * time.Minute
	// Even a busy machine reaches these numbers. Once every kind of fault has occurred, some connections were reset after
	// a COMMIT.
	leastOperations = 100
	leastFaults     = 4
	kindsOfFaults   = 13
)

func TestCampaign_FindsNothingWrong(t *testing.T) {
	t.Parallel()
	binary := expect.Value(BuildServer(t.Context(), t.TempDir()))(t)
	length := campaignLength
	if os.Getenv("CI") != "" {
		length = campaignLengthOfCI
	}
	report, err := Run(context.WithoutCancel(t.Context()), Config{
		Seed: campaignSeed, For: length, Nodes: 2, Workers: 1, Callers: 8, Binary: binary,
		Folder: filepath.Join(pgtest.TempDir(t), "site"), Rare: true,
		Say: func(line string) { t.Log(line) },
	})
	again := fmt.Sprintf("to keep the histories: "+
		"go run ./internal/lab campaign --seed %d --for %s --nodes 2 --workers 1 --callers 8", campaignSeed, length)
	must.NoError(t, err, must.Sprintf("%v; %s", err, again))
	test.NoError(t, report.Print(t.Output()))
	faults := sum(report.Faults)
	test.GreaterEq(t, leastOperations, report.Operations,
		test.Sprintf(
			"%d operations, %d faults, %d connections reset after COMMIT: too few for a campaign",
			report.Operations, faults, report.CutCommits,
		))
	test.GreaterEq(t, leastFaults, faults,
		test.Sprintf(
			"%d operations, %d faults, %d connections reset after COMMIT: too few for a campaign",
			report.Operations, faults, report.CutCommits,
		))
	test.True(t, faults <= kindsOfFaults || report.CutCommits != 0,
		test.Sprintf(
			"%d operations, %d faults, %d connections reset after COMMIT: too few for a campaign",
			report.Operations, faults, report.CutCommits,
		))
	for name, n := range report.Rare {
		test.True(t, n > 0, test.Sprintf("never met: %s", name))
	}
	test.MapLen(t, len(everyRareCase), report.Rare)
	test.True(t, len(report.Failures) == 0, test.Sprintf("%d failures; %s", len(report.Failures), again))
}

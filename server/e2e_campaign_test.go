package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/server/campaign"
)

// A short campaign as a test, and a longer one before a change lands. The long form is `berth campaign --for 3h`.
const (
	campaignSeed       = 2027
	campaignLength     = 45 * time.Second
	campaignLengthOfCI = 2 * time.Minute
	// leastOperations and leastFaults say that it was a campaign at all, on a machine that has other things to do. Where every kind of fault
	// has come about, commits were cut off, too.
	leastOperations = 100
	leastFaults     = 4
	kindsOfFaults   = 12
)

func testCampaign(t *testing.T, binary string) {
	length := campaignLength
	if os.Getenv("CI") != "" {
		length = campaignLengthOfCI
	}
	report, err := campaign.Run(context.WithoutCancel(t.Context()), campaign.Config{
		Seed: campaignSeed, For: length, Nodes: 2, Workers: 1, Callers: 8, Binary: binary,
		Folder: filepath.Join(pgtest.Folder(t), "site"), Say: func(line string) { t.Log(line) },
	})
	again := fmt.Sprintf("a campaign that keeps its histories: go run ./server campaign --seed %d --for %s --nodes 2 --workers 1 --callers 8", campaignSeed, length)
	if err != nil {
		t.Fatalf("%v; %s", err, again)
	}
	if err := report.Print(t.Output()); err != nil {
		t.Error(err)
	}
	faults := 0
	for _, n := range report.Faults {
		faults += n
	}
	if report.Operations < leastOperations || faults < leastFaults || faults > kindsOfFaults && report.Broken == 0 {
		t.Errorf("%d operations, %d faults, %d commits cut off: that is no campaign", report.Operations, faults, report.Broken)
	}
	if len(report.Failures) > 0 {
		t.Errorf("%d failures; %s", len(report.Failures), again)
	}
}

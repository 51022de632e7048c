package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/lab/bench/report"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

const (
	// quietPace is how often the member of the quiet tenant reads a page.
	quietPace = 20 * time.Millisecond
	// floodThreads is how many reads the member of the other tenant has in progress.
	floodThreads = 16
)

// measureQuiet measures a member who reads week pages at a steady pace, alone or while a member of another tenant reads
// as many as they can. Both are processes of their own, as phones are.
func (b *testbed) measureQuiet(ctx context.Context, c report.Case, length time.Duration) (_ report.Run, err error) {
	b.nextUser++
	raw, err := b.tokenOf(ctx, b.nextUser-1)
	if err != nil {
		return report.Run{}, err
	}
	if c.Workload == neighborLoad {
		flood, err := b.startFlood(ctx)
		if err != nil {
			return report.Run{}, err
		}
		defer flood()
	}
	d := &loadRun{testbed: b, Case: c}
	before, err := d.counters(ctx, d.work)
	if err != nil {
		return report.Run{}, err
	}
	cpu := b.measureCPU()
	begun := time.Now()
	samples, err := b.readAtPace(ctx, c, raw, length)
	if err != nil {
		return report.Run{}, err
	}
	elapsed := time.Since(begun)
	used := cpu()
	after, err := d.counters(ctx, d.work)
	if err != nil {
		return report.Run{}, err
	}
	run, err := d.sumUp(samples, elapsed, after.since(before))
	run.OwnCPU, run.PostgresCPU = perAnswer(used.own, run.Answers), perAnswer(used.postgres, run.Answers)
	return run, err
}

// readAtPace runs Pace in another process.
func (b *testbed) readAtPace(
	ctx context.Context, c report.Case, raw string, length time.Duration,
) (samples []sample, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	reader := exec.CommandContext(ctx, program, "pace", c.Via, b.address, raw, length.String())
	reader.Stderr = os.Stderr
	out, err := reader.Output()
	for line := range strings.Lines(string(out)) {
		took, invalid := time.ParseDuration(strings.TrimSpace(line))
		samples, err = append(samples, sample{took, readWeek}), cmp.Or(err, invalid)
	}
	return samples, err
}

// Pace reads a week page every 20 ms as one member, and prints how long each read took.
func Pace(ctx context.Context, via, address, raw string, length time.Duration, out io.Writer) error {
	speak, closeAll, err := dialers[via](address, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	n := &network{members: map[int]sendFunc{0: speak(0, raw)}}
	tick := time.NewTicker(quietPace)
	defer tick.Stop()
	begun := time.Now()
	for week := 0; time.Since(begun) < length; week++ {
		<-tick.C
		asked := time.Now()
		if err := n.week(ctx, 0, aWeek(week)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, time.Since(asked)); err != nil {
			return err
		}
	}
	return nil
}

// startFlood starts the other tenant's member, in a process of its own. On a machine that the server shares with it, it
// would take processor time that callers on other machines do not take, so it has the lowest priority.
func (b *testbed) startFlood(ctx context.Context) (stop func(), err error) {
	raw, _, err := b.Issuer.Issue(token.Claims{
		Subject: subjectPrefix + "0", Tenants: []tenant.TenantID{tenantID(naiveTenant)},
	}, time.Hour)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	flood := exec.CommandContext(ctx, "nice", "-n", "19", program, "flood", b.address, raw)
	flood.Stderr = os.Stderr
	if err := flood.Start(); err != nil {
		cancel()
		return nil, err
	}
	return func() {
		cancel()
		_ = flood.Wait() // it was killed
	}, nil
}

// Flood reads week pages as one member, as many as it can, until ctx ends. It ignores what is in them, so that it needs
// little processor time itself.
func Flood(ctx context.Context, address, raw string) error {
	week := aWeek(0)
	body, err := proto.Marshal(weekRequest(week))
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floodThreads}}
	errs := make(chan error, floodThreads)
	var threads sync.WaitGroup
	for range floodThreads {
		threads.Go(func() {
			for ctx.Err() == nil {
				if err := floodOnce(ctx, client, address, raw, body); err != nil && ctx.Err() == nil {
					errs <- err
					return
				}
			}
		})
	}
	threads.Wait()
	close(errs)
	return <-errs
}

func floodOnce(ctx context.Context, client *http.Client, address, raw string, body []byte) error {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://"+address+berthv1connect.SessionServiceListSessionsProcedure, bytes.NewReader(body))
	if err != nil {
		return err
	}
	post.Header = http.Header{
		"Content-Type": {"application/proto"}, "Connect-Protocol-Version": {"1"}, "Authorization": {"Bearer " + raw},
	}
	answer, err := client.Do(post)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusTooManyRequests {
		return fmt.Errorf("the flood got status %d", answer.StatusCode)
	}
	return nil
}

func weekRequest(week civil.Span) *v1.ListSessionsRequest {
	return &v1.ListSessionsRequest{
		Filter: &v1.SessionFilter{StartsWithin: &v1.TimeRange{
			Start: timestamppb.New(week.Start), End: timestamppb.New(week.End),
		}},
		PageSize: weekPageSize,
	}
}

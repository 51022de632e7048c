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
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/lab/bench/report"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

const (
	// quietPace is how often the member of the quiet tenant sends a request.
	quietPace = 20 * time.Millisecond
	// floodThreads is how many reads the member of the other tenant has in progress.
	floodThreads = 16
	// floodMembers is how many members of the other tenant write, one request after the other. None of them is above
	// what a caller may send.
	floodMembers = 40
	// writeLoad is a booking and its cancellation in turn.
	writeLoad = "book+cancel"
)

// measureQuiet measures a member who sends requests at a steady pace, alone or while members of another tenant send as
// many of the same kind as they can. Both are processes of their own, as phones are.
func (b *testbed) measureQuiet(ctx context.Context, c report.Case, length time.Duration) (_ report.Run, err error) {
	b.nextUser++
	raw, err := b.tokenOf(ctx, b.nextUser-1)
	if err != nil {
		return report.Run{}, err
	}
	if c.Workload == neighborLoad {
		flood, err := b.startFlood(ctx, c.Work)
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
	samples, err := b.sendAtPace(ctx, c, raw, length)
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

// sendAtPace runs Pace in another process.
func (b *testbed) sendAtPace(
	ctx context.Context, c report.Case, raw string, length time.Duration,
) (samples []sample, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	reader := exec.CommandContext(ctx, program, "pace", c.Work, c.Via, b.address, raw, length.String())
	reader.Stderr = os.Stderr
	out, err := reader.Output()
	did := booked
	if c.Work == readLoad {
		did = readWeek
	}
	for line := range strings.Lines(string(out)) {
		took, invalid := time.ParseDuration(strings.TrimSpace(line))
		samples, err = append(samples, sample{took, did}), cmp.Or(err, invalid)
	}
	return samples, err
}

// Pace sends a request every 20 ms as one member, and prints how long each took.
func Pace(ctx context.Context, work, via, address, raw string, length time.Duration, out io.Writer) error {
	speak, closeAll, err := dialers[via](address, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	send := quietRequests(&network{members: map[int]sendFunc{0: speak(0, raw)}}, work)
	tick := time.NewTicker(quietPace)
	defer tick.Stop()
	begun := time.Now()
	for n := 0; time.Since(begun) < length; n++ {
		<-tick.C
		asked := time.Now()
		if err := send(ctx, n); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, time.Since(asked)); err != nil {
			return err
		}
	}
	return nil
}

// quietRequests returns what sends the n-th request of a work as the member 0 of a network.
func quietRequests(through *network, work string) func(ctx context.Context, n int) error {
	if work == readLoad {
		return func(ctx context.Context, n int) error { return through.week(ctx, 0, aWeek(n)) }
	}
	var booking string
	return func(ctx context.Context, n int) (err error) {
		if n%2 == 1 {
			return through.cancel(ctx, 0, booking)
		}
		booking, err = through.book(ctx, seat{session: n / 2 % openSessions})
		return err
	}
}

// startFlood starts the other tenant's members, in a process of their own. On a machine that the server shares with it,
// it would take processor time that callers on other machines do not take, so it has the lowest priority.
func (b *testbed) startFlood(ctx context.Context, work string) (stop func(), err error) {
	arguments := []string{"-n", "19", "", "flood", work, b.address}
	if arguments[2], err = os.Executable(); err != nil {
		return nil, err
	}
	members := 1
	if work == writeLoad {
		members = floodMembers
	}
	for member := range members {
		raw, _, err := b.Issuer.Issue(token.Claims{
			Subject: fmt.Sprint(subjectPrefix, member), Tenants: []tenant.TenantID{tenantID(naiveTenant)},
		}, time.Hour)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, raw)
	}
	ctx, cancel := context.WithCancel(ctx)
	flood := exec.CommandContext(ctx, "nice", arguments...)
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

// Flood sends as many requests as the members with these tokens can, until ctx ends.
func Flood(ctx context.Context, work, address string, tokens []string) error {
	if work == writeLoad {
		return floodWrites(ctx, address, tokens)
	}
	return floodReads(ctx, address, tokens[0])
}

// floodWrites books and cancels, each member one request after the other and in sessions of their own.
func floodWrites(ctx context.Context, address string, tokens []string) error {
	speak, closeAll, err := dialers[report.Connect](address, networkConns)
	if err != nil {
		return err
	}
	defer closeAll()
	members, ctx := errgroup.WithContext(ctx)
	for i, raw := range tokens {
		members.Go(func() error {
			through := &network{members: map[int]sendFunc{0: speak(i, raw)}}
			for n := i; ctx.Err() == nil; n += len(tokens) {
				booking, err := through.book(ctx, seat{session: n % openSessions})
				if err == nil {
					err = through.cancel(ctx, 0, booking)
				}
				switch fault.Reason(wireReason(err)) {
				case fault.RateLimited, fault.AlreadyBooked: // a booking of an earlier run that was not cancelled
				default:
					if err != nil && ctx.Err() == nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return members.Wait()
}

// floodReads reads week pages as one member. It ignores what is in them, so that it needs little processor time itself.
func floodReads(ctx context.Context, address, raw string) error {
	week := aWeek(0)
	body, err := proto.Marshal(weekRequest(week))
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floodThreads}}
	threads, ctx := errgroup.WithContext(ctx)
	for range floodThreads {
		threads.Go(func() error {
			for ctx.Err() == nil {
				if err := floodOnce(ctx, client, address, raw, body); err != nil && ctx.Err() == nil {
					return err
				}
			}
			return nil
		})
	}
	return threads.Wait()
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

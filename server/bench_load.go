package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// benchRun is what one run came to.
type benchRun struct {
	perSecond float64
	p50, p99  time.Duration
	retries   float64 // attempts beyond the first, for each booking
}

// grpcConns spread the callers, as a fleet of clients would be.
const grpcConns = 8

// load books as fast as the callers can, each a member with a token of their own, none twice in a session.
func (h *benchHouse) load(ctx context.Context, callers int, length time.Duration) (benchRun, error) {
	if h.nextUser+callers > benchMembers/2 {
		return benchRun{}, errors.New("every member has been used; run fewer rounds")
	}
	var conns []*grpc.ClientConn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	for range min(callers, grpcConns) {
		conn, err := grpc.NewClient("passthrough:///"+h.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return benchRun{}, err
		}
		conns = append(conns, conn)
	}
	before, err := h.attempts(ctx)
	if err != nil {
		return benchRun{}, err
	}
	times := make([][]time.Duration, callers)
	errs := make([]error, callers)
	var over atomic.Bool
	var done sync.WaitGroup
	begun := time.Now()
	stop := time.AfterFunc(length, func() { over.Store(true) })
	defer stop.Stop()
	for i := range callers {
		raw, _, err := h.issuer.Issue(token.Grant{Subject: fmt.Sprintf("bench-%d", h.nextUser+i), Tenants: []tenant.TenantID{benchTenant}}, time.Hour)
		if err != nil {
			return benchRun{}, err
		}
		done.Go(func() {
			as := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+raw)
			for n := 0; !over.Load() && n < benchSessions && errs[i] == nil; n++ {
				// 7,919 is prime: each caller meets every session once, and all at other times.
				session := (i*31 + n*7919) % benchSessions
				start := time.Now()
				errs[i] = conns[i%len(conns)].Invoke(as, berthv1connect.BookingServiceBookProcedure,
					&v1.BookRequest{SessionId: fmt.Sprintf("00000000-0000-7000-9000-%012x", session)}, new(v1.BookResponse))
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	done.Wait()
	elapsed := time.Since(begun)
	h.nextUser += callers
	if err := errors.Join(errs...); err != nil {
		return benchRun{}, err
	}
	after, err := h.attempts(ctx)
	if err != nil {
		return benchRun{}, err
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	booked := float64(len(all))
	return benchRun{
		perSecond: booked / elapsed.Seconds(), p50: all[len(all)/2], p99: all[len(all)*99/100],
		retries: (after - before - booked) / booked,
	}, nil
}

// attempts reads from the node's own metrics how often bookings were tried.
func (h *benchHouse) attempts(ctx context.Context) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.address+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		return 0, err
	}
	for _, metric := range families["berth_transaction_attempts"].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "transaction" && label.GetValue() == "booking.book" {
				return metric.GetHistogram().GetSampleSum(), nil
			}
		}
	}
	return 0, nil // nobody has booked yet
}

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

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// benchRun is what one run came to.
type benchRun struct {
	perSecond float64
	p50, p99  time.Duration
	retries   float64 // attempts beyond the first of each transaction, for each turn
}

// grpcConns spread the callers, as a fleet of clients would be.
const grpcConns = 8

// load works as fast as the callers can, each a member with a token of their own, none twice in a session.
func (h *benchHouse) load(ctx context.Context, w work, callers int, length time.Duration) (benchRun, error) {
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
	turns := make([]func(string) error, callers)
	for i := range callers {
		raw, _, err := h.issuer.Issue(token.Grant{Subject: fmt.Sprintf("bench-%d", h.nextUser+i), Tenants: []tenant.TenantID{benchTenant}}, time.Hour)
		if err != nil {
			return benchRun{}, err
		}
		as := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+raw)
		if turns[i], err = w.begin(as, conns[i%len(conns)]); err != nil {
			return benchRun{}, err
		}
	}
	h.nextUser += callers
	before, err := h.attempts(ctx, w.transactions...)
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
		done.Go(func() {
			for n := 0; !over.Load() && n < benchSessions-1 && errs[i] == nil; n++ {
				// 7,919 is prime: each caller meets every session but the last once, and all at other times.
				session := benchSession((i*31 + n*7919) % (benchSessions - 1))
				start := time.Now()
				errs[i] = turns[i](session)
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	done.Wait()
	elapsed := time.Since(begun)
	if err := errors.Join(errs...); err != nil {
		return benchRun{}, err
	}
	after, err := h.attempts(ctx, w.transactions...)
	if err != nil {
		return benchRun{}, err
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	n := float64(len(all))
	return benchRun{
		perSecond: n / elapsed.Seconds(), p50: all[len(all)/2], p99: all[len(all)*99/100],
		retries: (after-before)/n - float64(len(w.transactions)),
	}, nil
}

// attempts reads from the node's own metrics how often transactions of these names were tried.
func (h *benchHouse) attempts(ctx context.Context, names ...string) (float64, error) {
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
	sum := 0.0
	for _, metric := range families["berth_transaction_attempts"].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "transaction" && slices.Contains(names, label.GetValue()) {
				sum += metric.GetHistogram().GetSampleSum()
			}
		}
	}
	return sum, nil
}

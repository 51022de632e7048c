package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// PlatformMailConfig configures a PlatformMails.
type PlatformMailConfig struct {
	Mails *mails.Service
	// Sender returns the platform's sender of mails.
	Sender  func() Sender
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Now     func() time.Time
}

// PlatformMails sends the platform's mails about signing in. All nodes may run one.
type PlatformMails struct {
	config PlatformMailConfig
	mails  *prometheus.CounterVec
}

const (
	// mailTenants is how many tenants' mails are sent at the same time, and mailWidth how many of each.
	mailTenants = 8
	mailWidth   = 8
)

// NewPlatformMails returns a PlatformMails.
func NewPlatformMails(c PlatformMailConfig) (*PlatformMails, error) {
	p := &PlatformMails{config: c, mails: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_platform_mails_total",
		Help: "The platform's mails about signing in, by what became of an attempt: sent, retry, refused or expired.",
	}, []string{"kind", "result"})}
	for _, kind := range content.MailKinds() { // an alert sees an increase only of what exists
		for _, result := range []mails.Result{mails.Sent, mails.Retry, mails.Refused, mails.Expired} {
			p.count(kind, result)
		}
	}
	if c.Metrics != nil {
		if err := c.Metrics.Register(p.mails); err != nil {
			return nil, fmt.Errorf("worker: %w", err)
		}
	}
	return p, nil
}

// Run sends what is due until ctx ends. It knows the mails that it was told of, and those that sweeps found.
func (p *PlatformMails) Run(ctx context.Context) {
	p.config.Mails.Run(ctx, mailTenants, func(in tenant.TenantID) {
		if err := p.Deliver(ctx, in); err != nil && ctx.Err() == nil {
			p.config.Log.ErrorContext(ctx, "sending mails about signing in failed",
				slog.String("tenant_id", in.String()), slog.Any("error", err))
			p.config.Mails.SetAlarm(in, retryDelay)
		}
	})
}

// Deliver sends what is due of a tenant.
func (p *PlatformMails) Deliver(ctx context.Context, in tenant.TenantID) error {
	for {
		start := p.config.Now()
		taken, err := p.config.Mails.Take(ctx, in)
		for _, kind := range taken.Expired {
			p.count(kind, mails.Expired).Inc()
		}
		var group errgroup.Group
		group.SetLimit(mailWidth)
		for _, o := range taken.Out {
			group.Go(func() error { return p.send(ctx, in, o, start) })
		}
		if err = errors.Join(err, group.Wait()); err != nil || !taken.More || ctx.Err() != nil {
			return err
		}
	}
}

// send makes one attempt. If the node stops before it, or those before it took too long, another attempt follows when
// the lease is over.
func (p *PlatformMails) send(ctx context.Context, in tenant.TenantID, o mails.Outgoing, start time.Time) error {
	if ctx.Err() != nil || p.config.Now().Sub(start) > startTimeout {
		return nil
	}
	detached := context.WithoutCancel(ctx) // what is sent is written down, also while the node stops
	limited, cancel := context.WithTimeout(detached, sendTimeout)
	defer cancel()
	_, failure := p.config.Sender().Send(limited, o.Message)
	result, err := p.config.Mails.Settle(detached, in, o, failure)
	if err != nil {
		return err
	}
	p.count(o.Kind, result).Inc()
	if failure != nil {
		p.config.Log.WarnContext(ctx, "a mail about signing in was not sent", slog.String("tenant_id", in.String()),
			slog.String("kind", strings.ToLower(string(o.Kind))), slog.String("result", string(result)),
			slog.String("reason", reasonOf(failure)))
	}
	return nil
}

// reasonOf is why a mail was not sent. It has no address: an error's cause may.
func reasonOf(failure error) string {
	if known, ok := errors.AsType[*delivery.Error](failure); ok {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", known.Kind, known.Code, known.Reason))
	}
	return "unknown"
}

func (p *PlatformMails) count(kind content.MailKind, result mails.Result) prometheus.Counter {
	return p.mails.WithLabelValues(strings.ToLower(string(kind)), string(result))
}

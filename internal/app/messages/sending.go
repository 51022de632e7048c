package messages

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// sendingFacts is what a tenant sent through the platform's accounts, and what its limits depend on.
type sendingFacts struct {
	zones     []string
	locale    string
	hours     []notify.SendingHour
	standings []notify.Standing
}

// queue queues the reads. The tenant's own countries matter for text messages only.
func (f *sendingFacts) queue(b *pg.Batch, in tenant.TenantID, countries bool, now time.Time) {
	messagedb.ListSendingHours(b, in, notify.SendingSince(now), &f.hours)
	messagedb.ListStandings(b, in, &f.standings)
	if countries {
		accountdb.ListZones(b, in, &f.zones, &f.locale)
	}
}

// sending returns what a tenant may send over channels with limits.
func (f *sendingFacts) sending(
	in tenant.TenantID, limits notify.SendingLimits, settings notify.Settings, now time.Time,
) *notify.Sending {
	home := member.Countries(settings.PhoneCountries, f.zones, f.locale)
	return notify.NewSending(in, limits, f.standings, f.hours, home, now)
}

// limits returns the limits of the channels that a tenant sends through the platform's accounts.
func (s *Service) limits(senders Senders) notify.SendingLimits {
	limits := make(notify.SendingLimits)
	for _, c := range s.ChannelSenders(senders) {
		if limit := s.quotas[c.Channel]; s.platform(c) && s.quotas.Limited(c.Channel) {
			limits[c.Channel] = limit
		}
	}
	return limits
}

// platform reports whether messages go through an account of the platform, which all tenants share.
func (s *Service) platform(c ChannelSender) bool { return !c.Own && c.Provider != LocalOutbox }

// countTest counts a test message. Tests have a limit of their own.
func (s *Service) countTest(tx *engine.Tx, senders Senders, c delivery.Channel, phone string) notify.SendingKey {
	sending := notify.NewSending(tx.Tenant, s.limits(senders), nil, nil, nil, tx.Now)
	counted := sending.Count(c, notify.SendingCountry(c, phone))
	messagedb.AddSendingHours(tx.Tx, tx.Tenant, sending.Changes())
	return counted
}

// tellAlarms writes in the audit log which limits are nearly used up, or exceeded.
func tellAlarms(tx *engine.Tx, sending *notify.Sending) []notify.SendingAlarm {
	alarms := sending.Alarms()
	for _, a := range alarms {
		record.Audit(tx, "sending_quota.reached", "tenant", tx.Tenant.UUID, "", map[string]any{
			"channel": string(a.Channel), "country": a.Country, "percent": a.Percent, "limit": a.Limit, "used": a.Used,
		})
	}
	return alarms
}

// ListSendingQuotas returns the limits of the channels that the tenant sends through the platform's accounts.
func (s *Service) ListSendingQuotas(ctx context.Context, caller tenant.Caller) ([]notify.SendingQuota, error) {
	var facts sendingFacts
	var settings notify.Settings
	var sealed *messagedb.Sealed
	now := s.engine.Now()
	var batch pg.Batch
	facts.queue(&batch, caller.Tenant, true, now)
	messagedb.FindNotificationSettings(&batch, caller.Tenant, &settings)
	messagedb.FindSenders(&batch, caller.Tenant, &sealed)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	limits := s.limits(s.unseal(caller.Tenant, sealed))
	return facts.sending(caller.Tenant, limits, settings, now).Quotas(), nil
}

// ReviewSending reviews the standing of a tenant once a day, and deletes counters that no longer count.
func (s *Service) ReviewSending(ctx context.Context, in tenant.TenantID) error {
	caller, now := tenant.System(in), s.engine.Now()
	due, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]notify.Standing) {
		messagedb.ListReviews(b, in, now, into)
	})
	if err != nil || len(due) == 0 {
		return err
	}
	// Outside of the transaction: its reads would conflict with messages that are sent at the same time.
	conduct := make(map[delivery.Channel]notify.Conduct)
	var batch pg.Batch
	messagedb.ListConduct(&batch, in, pg.Array(due, func(before notify.Standing) notify.Standing {
		if week := now.Add(-notify.StandingWeek); before.Since.Before(week) {
			before.Since = week
		}
		return before
	}), now, conduct)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	t := engine.Transaction{Name: "sweep.sending"}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		var still []notify.Standing
		var batch pg.Batch
		messagedb.ListReviews(&batch, in, now, &still)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		var reviewed []notify.Standing
		for _, before := range still {
			if !slices.ContainsFunc(due, func(d notify.Standing) bool { return d.Channel == before.Channel }) {
				continue
			}
			after := before.Review(conduct[before.Channel], s.quotas[before.Channel].Total, tx.Now)
			reviewed = append(reviewed, after)
			if after.Level != before.Level {
				record.Audit(tx, "sending_quota.changed", "tenant", in.UUID, "", map[string]any{
					"channel": string(after.Channel), "before": 1 << before.Level, "after": 1 << after.Level,
					"sent": conduct[before.Channel].Sent, "bad": conduct[before.Channel].Bad,
				})
			}
		}
		messagedb.PutStandings(tx.Tx, in, reviewed)
		messagedb.DeleteOldSendingHours(tx.Tx, in, notify.SendingSince(tx.Now))
		return nil
	})
}

package messages

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

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

// Limits returns the limits of the channels that a tenant with these senders sends through the platform's accounts.
func (s *Service) Limits(in tenant.TenantID, senders *messagedb.Sealed) notify.SendingLimits {
	return s.limits(s.unseal(in, senders))
}

// tellAlarms writes in the audit log which limits are nearly used up, or exceeded, and tells the owners if codes are no
// longer sent.
func (s *Service) tellAlarms(
	ctx context.Context, tx *engine.Tx, sending *notify.Sending,
) ([]notify.SendingAlarm, error) {
	alarms := sending.Alarms()
	for _, a := range alarms {
		if a.StopsCodes() {
			err := s.tellOwners(ctx, tx, func(owner tenant.MemberID, thing tenant.UUID) notify.Notice {
				return notify.NewQuotaReached(owner, thing, a, tx.Now)
			})
			if err != nil {
				return nil, err
			}
		}
		record.Audit(tx, "sending_quota.reached", "tenant", tx.Tenant.UUID, "", map[string]any{
			"channel": string(a.Channel), "country": a.Country, "percent": a.Percent, "limit": a.Limit, "used": a.Used,
		})
	}
	return alarms, nil
}

// ListSendingQuotas returns the limits of the channels that the tenant sends through the platform's accounts.
func (s *Service) ListSendingQuotas(ctx context.Context, caller tenant.Caller) ([]notify.SendingQuota, error) {
	var facts contacts.SendingFacts
	var sealed *messagedb.Sealed
	now := s.engine.Now()
	var batch pg.Batch
	facts.Queue(&batch, caller.Tenant, true, now)
	messagedb.FindSenders(&batch, caller.Tenant, &sealed)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	return facts.Sending(caller.Tenant, s.Limits(caller.Tenant, sealed), now).Quotas(), nil
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

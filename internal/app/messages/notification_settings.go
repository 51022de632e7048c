package messages

import (
	"context"
	"maps"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// GetNotificationSettings returns the tenant's settings for messages.
func (s *Service) GetNotificationSettings(ctx context.Context, caller tenant.Caller) (notify.Settings, error) {
	var settings notify.Settings
	var batch pg.Batch
	messagedb.FindNotificationSettings(&batch, caller.Tenant, &settings)
	err := s.engine.Read(ctx, caller, &batch)
	return settings, err
}

// UpdateNotificationSettings edits the tenant's settings for messages if they still have the expected version; nil
// matches any.
func (s *Service) UpdateNotificationSettings(
	ctx context.Context, caller tenant.Caller, expect *int, edit func(*notify.Settings),
) (notify.Settings, error) {
	t := engine.Transaction{Name: "notification_settings.update", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (notify.Settings, error) {
		var before notify.Settings
		var batch pg.Batch
		messagedb.FindNotificationSettings(&batch, tx.Tenant, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return before, err
		}
		if err := fault.CheckVersion(expect, before.Version); err != nil {
			return before, err
		}
		after := before
		after.PerDay = maps.Clone(before.PerDay)
		edit(&after)
		after, err := after.Normalize()
		if err != nil {
			return after, err
		}
		changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
		if changes == nil {
			return after, nil
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		messagedb.PutNotificationSettings(tx.Tx, tx.Tenant, after)
		record.Audit(tx, "notification_settings.updated", "tenant", tx.Tenant.UUID, "", changes)
		return after, nil
	})
}

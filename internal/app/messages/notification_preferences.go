package messages

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

var noMember = fault.Missing(fault.MemberNotFound, "Member")

// NotificationPreferences are a member's choices about messages.
type NotificationPreferences struct {
	Chosen  notify.Preferences
	Quiet   *notify.QuietHours // nil: the tenant's
	Stops   []messagedb.NotificationStop
	HasFeed bool
	Version int
}

// GetNotificationPreferences returns a member's choices about messages. The zero id is the caller.
func (s *Service) GetNotificationPreferences(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID,
) (NotificationPreferences, error) {
	if id.IsZero() {
		id = caller.Member
	}
	var p NotificationPreferences
	if !caller.CanAccess(id) {
		return p, noMember
	}
	var quiet messagedb.MemberQuiet
	chosen := make(map[tenant.MemberID]notify.Preferences)
	_, err := engine.Get(ctx, s.engine, caller, noMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, caller.Tenant, id, into)
		messagedb.ListPreferences(b, caller.Tenant, []tenant.MemberID{id}, chosen)
		messagedb.FindMemberQuiet(b, caller.Tenant, id, &quiet)
		messagedb.ListMemberStops(b, caller.Tenant, id, &p.Stops)
	})
	p.Chosen, p.Quiet, p.HasFeed, p.Version = chosen[id], quiet.Hours, quiet.HasFeed, quiet.Version
	return p, err
}

// PreferencesEdit is an edit of a member's choices. Nil fields do not change.
type PreferencesEdit struct {
	Chosen  notify.Preferences
	Quiet   **notify.QuietHours // to nil: the tenant's
	Version *int                // that the preferences must still have
}

// UpdateNotificationPreferences changes the caller's choices about messages. Choosing email for a topic also removes
// the stop of a member who had unsubscribed from all mail. Stops by carriers and bounces stay. The audit log does not
// record the change, because it concerns only the member.
func (s *Service) UpdateNotificationPreferences(
	ctx context.Context, caller tenant.Caller, edit PreferencesEdit,
) (NotificationPreferences, error) {
	if edit.Quiet != nil && *edit.Quiet != nil {
		if err := (*edit.Quiet).Validate("preferences.quiet_hours"); err != nil {
			return NotificationPreferences{}, err
		}
	}
	t := engine.Transaction{Name: "notification_preferences.update", Replay: true}
	_, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (bool, error) {
		var quiet messagedb.MemberQuiet
		_, err := engine.Find(ctx, tx, noMember, func(b *pg.Batch, into **member.Member) {
			accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, into)
			messagedb.FindMemberQuiet(b, tx.Tenant, tx.Caller.Member, &quiet)
		})
		if err == nil {
			err = fault.CheckVersion(edit.Version, quiet.Version)
		}
		if err != nil {
			return false, err
		}
		if len(edit.Chosen) > 0 {
			messagedb.PutPreferences(tx.Tx, tx.Tenant, tx.Caller.Member, edit.Chosen, tx.Now)
			if edit.Chosen.AnyOn(delivery.Email) {
				messagedb.Resubscribe(tx.Tx, tx.Tenant, tx.Caller.Member)
			}
		}
		if edit.Quiet != nil {
			quiet.Hours = *edit.Quiet
		}
		messagedb.PutMemberQuiet(tx.Tx, tx.Tenant, tx.Caller.Member, quiet.Hours, tx.Now)
		return true, nil
	})
	if err != nil {
		return NotificationPreferences{}, err
	}
	return s.GetNotificationPreferences(ctx, caller, caller.Member)
}

// mustBeMember refuses callers who are not members.
func mustBeMember(ctx context.Context, tx *engine.Tx) error {
	_, err := engine.Find(ctx, tx, noMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, into)
	})
	return err
}

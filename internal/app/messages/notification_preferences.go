package messages

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// NotificationPreferences are what a member wants to hear of, and how.
type NotificationPreferences struct {
	Chosen  notify.Preferences
	Quiet   *notify.QuietHours // nil: the tenant's
	Stops   []messagedb.NotificationStop
	HasFeed bool
}

func queuePreferences(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, m **member.Member, chosen map[tenant.MemberID]notify.Preferences,
	quiet *messagedb.MemberQuiet, stops *[]messagedb.NotificationStop,
) {
	accountdb.FindMember(b, in, owner, m)
	messagedb.ListPreferences(b, in, []tenant.MemberID{owner}, chosen)
	messagedb.FindMemberQuiet(b, in, owner, quiet)
	messagedb.ListMemberStops(b, in, owner, stops)
}

// GetNotificationPreferences reads what a member wants to hear of, and how; the zero id is the caller's own.
func (s *Service) GetNotificationPreferences(ctx context.Context, caller tenant.Caller, whose tenant.MemberID) (NotificationPreferences, error) {
	if whose.IsZero() {
		whose = caller.Member
	}
	if !caller.CanAccess(whose) {
		return NotificationPreferences{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	var m *member.Member
	chosen := make(map[tenant.MemberID]notify.Preferences)
	var quiet messagedb.MemberQuiet
	var p NotificationPreferences
	var batch pg.Batch
	queuePreferences(&batch, caller.Tenant, whose, &m, chosen, &quiet, &p.Stops)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return p, err
	}
	if m == nil {
		return p, fault.Missing(fault.MemberNotFound, "Member")
	}
	p.Chosen, p.Quiet, p.HasFeed = chosen[whose], quiet.Hours, quiet.HasFeed
	return p, nil
}

// PreferencesEdit is what changes; what is nil stays.
type PreferencesEdit struct {
	Chosen notify.Preferences
	Quiet  **notify.QuietHours // to nil: the tenant's
}

// UpdateNotificationPreferences changes what the caller wants to hear of, and how. Whoever chooses mails has them again, also after
// having unsubscribed from all; what carriers hold, and what bounces, stays stopped. Nobody asks about it later, so the audit log does not keep it.
func (s *Service) UpdateNotificationPreferences(ctx context.Context, caller tenant.Caller, edit PreferencesEdit) (NotificationPreferences, error) {
	if edit.Quiet != nil && *edit.Quiet != nil {
		if err := (*edit.Quiet).Validate("preferences.quiet_hours"); err != nil {
			return NotificationPreferences{}, err
		}
	}
	var done bool
	err := s.engine.Write(ctx, caller, "notification.preferences", func(ctx context.Context, tx *engine.Tx) error {
		if err := mustBeMember(ctx, tx); err != nil {
			return err
		}
		if len(edit.Chosen) > 0 {
			messagedb.PutPreferences(tx.Tx, tx.Tenant, tx.Caller.Member, edit.Chosen, tx.Now)
			if edit.Chosen.AnyOn(notify.Email) {
				messagedb.Resubscribe(tx.Tx, tx.Tenant, tx.Caller.Member)
			}
		}
		if edit.Quiet != nil {
			messagedb.PutMemberQuiet(tx.Tx, tx.Tenant, tx.Caller.Member, *edit.Quiet, tx.Now)
		}
		done = true
		return nil
	}, engine.Answers(&done))
	if err != nil {
		return NotificationPreferences{}, err
	}
	return s.GetNotificationPreferences(ctx, caller, caller.Member)
}

func mustBeMember(ctx context.Context, tx *engine.Tx) error {
	var m *member.Member
	var batch pg.Batch
	accountdb.FindMember(&batch, tx.Tenant, tx.Caller.Member, &m)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	if m == nil {
		return fault.Missing(fault.MemberNotFound, "Member")
	}
	return nil
}

// CalendarPath is where calendar feeds lie.
const CalendarPath = "/calendar/"

// A feed's secret is the tenant's id, which says where to look, and 128 bits. These are made of a random seed, which stands in the
// answer that a repetition gets: the secret itself is kept nowhere.
const feedRandom = 16

// CreateCalendarFeed opens the caller's calendar feed and gives its address, which nobody can read again. The one given before ends.
func (s *Service) CreateCalendarFeed(ctx context.Context, caller tenant.Caller) (string, error) {
	seed := make([]byte, feedRandom)
	if _, err := rand.Read(seed); err != nil {
		return "", err
	}
	secret := func() []byte { return s.seals.Token(caller.Tenant, "calendar", append(caller.Member.UUID[:], seed...)) }
	err := s.engine.Write(ctx, caller, "calendar_feed.create", func(ctx context.Context, tx *engine.Tx) error {
		if err := mustBeMember(ctx, tx); err != nil {
			return err
		}
		messagedb.PutFeed(tx.Tx, tx.Tenant, tx.Caller.Member, secret(), tx.Now)
		return nil
	}, engine.Answers(&seed))
	text := base64.RawURLEncoding.EncodeToString(append(append([]byte{}, caller.Tenant.UUID[:]...), secret()...))
	return s.publicURL + CalendarPath + text + ".ics", err
}

// DeleteCalendarFeed closes the caller's calendar feed.
func (s *Service) DeleteCalendarFeed(ctx context.Context, caller tenant.Caller) error {
	return s.engine.Write(ctx, caller, "calendar_feed.delete", func(ctx context.Context, tx *engine.Tx) error {
		if err := mustBeMember(ctx, tx); err != nil {
			return err
		}
		messagedb.CloseFeed(tx.Tx, tx.Tenant, tx.Caller.Member, tx.Now)
		return nil
	}, engine.Answers())
}

const (
	// A calendar shows what was booked since, and so many bookings at most.
	feedReach = 90 * 24 * time.Hour
	feedMost  = 1000
)

// GetCalendarFeed writes the calendar that a secret opens: LINK_INVALID where it opens none.
func (s *Service) GetCalendarFeed(ctx context.Context, secret string) ([]byte, error) {
	broken := fault.New(fault.FailedPrecondition, fault.LinkInvalid, "There is no such calendar.")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	var in tenant.TenantID
	if err != nil || len(raw) != len(in.UUID)+feedRandom {
		return nil, broken
	}
	copy(in.UUID[:], raw)
	var owner tenant.MemberID
	var h house
	var find pg.Batch
	messagedb.FindFeed(&find, in, raw[len(in.UUID):], &owner)
	if err := s.engine.Read(ctx, tenant.System(in), &find); err != nil {
		return nil, err
	}
	if owner.IsZero() {
		return nil, broken
	}
	now := s.engine.Now()
	var bookings []messagedb.BookedSubject
	var batch pg.Batch
	h.queue(&batch, in)
	messagedb.ListMemberSchedule(&batch, in, owner, now.Add(-feedReach), feedMost, &bookings)
	if err := s.engine.Read(ctx, tenant.System(in), &batch); err != nil {
		return nil, err
	}
	entries := make([]notify.CalendarEntry, len(bookings))
	for i, b := range bookings {
		entries[i] = calendarEntry(b.Subject)
		entries[i].UID, entries[i].Sequence, entries[i].Stamp = b.ID.String()+"@"+s.host(), notify.CalendarSequence(b.Made, b.Changed), b.Changed
	}
	return notify.CalendarFeed(h.name, entries), nil
}

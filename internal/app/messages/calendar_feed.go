package messages

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/tenant"
)

// CalendarPath is the URL path of calendar feeds.
const CalendarPath = "/calendar/"

// A feed's URL has the tenant's id, which says where to look, and a secret of 128 bits. The secret is derived from a
// random seed. The seed is in the stored answer, so that a replay gets the same URL. The secret itself is not stored.
const feedSecretSize = 16

const (
	// feedHistory is how far back a calendar goes.
	feedHistory = 90 * 24 * time.Hour
	// maxFeedBookings is how many bookings a calendar shows at most.
	maxFeedBookings = 1000
)

// CreateCalendarFeed opens the caller's calendar feed and returns its URL, which cannot be read again. The URL before
// stops working.
func (s *Service) CreateCalendarFeed(ctx context.Context, caller tenant.Caller) (string, error) {
	seed := make([]byte, feedSecretSize)
	rand.Read(seed)
	t := engine.Transaction{Name: "calendar_feed.create", Replay: true}
	seed, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) ([]byte, error) {
		if err := mustBeMember(ctx, tx); err != nil {
			return nil, err
		}
		messagedb.PutFeed(tx.Tx, tx.Tenant, tx.Caller.Member, s.feedSecret(tx.Caller, seed), tx.Now)
		return seed, nil
	})
	text := base64.RawURLEncoding.EncodeToString(slices.Concat(caller.Tenant.UUID[:], s.feedSecret(caller, seed)))
	return s.publicURL + CalendarPath + text + ".ics", err
}

func (s *Service) feedSecret(caller tenant.Caller, seed []byte) []byte {
	return s.seals.Token(caller.Tenant, "calendar", slices.Concat(caller.Member.UUID[:], seed))
}

// DeleteCalendarFeed closes the caller's calendar feed.
func (s *Service) DeleteCalendarFeed(ctx context.Context, caller tenant.Caller) error {
	t := engine.Transaction{Name: "calendar_feed.delete", Replay: true}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		if err := mustBeMember(ctx, tx); err != nil {
			return err
		}
		messagedb.CloseFeed(tx.Tx, tx.Tenant, tx.Caller.Member, tx.Now)
		return nil
	})
}

// GetCalendarFeed returns the calendar of a feed's URL. The error is LINK_INVALID if there is none.
func (s *Service) GetCalendarFeed(ctx context.Context, secret string) ([]byte, error) {
	invalid := fault.New(fault.FailedPrecondition, fault.LinkInvalid, "There is no such calendar.")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	var in tenant.TenantID
	if err != nil || len(raw) != len(in.UUID)+feedSecretSize {
		return nil, invalid
	}
	if copy(in.UUID[:], raw); in.IsZero() {
		return nil, invalid
	}
	var owner tenant.MemberID
	var find, read pg.Batch
	messagedb.FindFeed(&find, in, raw[len(in.UUID):], &owner)
	if err := s.engine.Read(ctx, tenant.System(in), &find); err != nil {
		return nil, err
	}
	if owner.IsZero() {
		return nil, invalid
	}
	var profile tenantProfile
	var bookings []messagedb.BookedSubject
	profile.queue(&read, in)
	since := s.engine.Now().Add(-feedHistory)
	messagedb.ListMemberSchedule(&read, in, owner, since, maxFeedBookings, &bookings)
	if err := s.engine.Read(ctx, tenant.System(in), &read); err != nil {
		return nil, err
	}
	host := s.host()
	return content.CalendarFeed(profile.name, pg.Array(bookings, func(b messagedb.BookedSubject) content.CalendarEntry {
		entry := calendarEntry(b.Subject)
		entry.UID, entry.Stamp = b.ID.String()+"@"+host, b.Changed
		entry.Sequence = content.CalendarSequence(b.Made, b.Changed)
		return entry
	})), nil
}

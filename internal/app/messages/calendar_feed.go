package messages

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// CalendarPath is the URL path of calendar feeds.
const CalendarPath = "/calendar/"

const (
	// feedHistory is how far back a calendar goes.
	feedHistory = 90 * 24 * time.Hour
	// maxFeedBookings is how many bookings a calendar shows at most.
	maxFeedBookings = 1000
)

// CreateCalendarFeed opens the caller's calendar feed and returns its URL, which cannot be read again. The URL before
// stops working.
func (s *Service) CreateCalendarFeed(ctx context.Context, caller tenant.Caller) (string, error) {
	// The secret of the URL is derived from a random seed. The seed is in the stored answer, so that a replay gets the
	// same URL. The secret itself is not stored.
	seed := make([]byte, content.CalendarSecretSize)
	rand.Read(seed)
	t := engine.Transaction{Name: "calendar_feed.create", Replay: true}
	seed, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) ([]byte, error) {
		if err := mustBeMember(ctx, tx); err != nil {
			return nil, err
		}
		messagedb.PutFeed(tx.Tx, tx.Tenant, tx.Caller.Member, s.feedSecret(tx.Caller, seed), tx.Now)
		return seed, nil
	})
	link := content.WriteCalendarLink(caller.Tenant, s.feedSecret(caller, seed))
	return s.publicURL + CalendarPath + link + ".ics", err
}

// feedSecret derives a secret, which ends with its checksum.
func (s *Service) feedSecret(caller tenant.Caller, seed []byte) []byte {
	secret := s.seals.Token(caller.Tenant, feedPurpose, slices.Concat(caller.Member.UUID[:], seed))
	said := secret[:content.CalendarSecretSize-seal.ChecksumSize]
	return append(said, s.seals.Checksum(caller.Tenant, feedPurpose, said)...)
}

// feedPurpose keeps secrets of feeds from being used for other links.
const feedPurpose = "calendar"

// MadeCalendarFeed reports whether the last part of a feed's URL was made by the service. The feed may be closed.
func (s *Service) MadeCalendarFeed(link string) bool {
	in, secret, err := content.ReadCalendarLink(link)
	if err != nil {
		return false
	}
	said, sum := secret[:len(secret)-seal.ChecksumSize], secret[len(secret)-seal.ChecksumSize:]
	return s.seals.HasChecksum(in, feedPurpose, said, sum)
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
func (s *Service) GetCalendarFeed(ctx context.Context, link string) ([]byte, error) {
	in, secret, err := content.ReadCalendarLink(link)
	if err != nil {
		return nil, err
	}
	var owner tenant.MemberID
	var find, read pg.Batch
	messagedb.FindFeed(&find, in, secret, &owner)
	if err := s.engine.Read(ctx, tenant.System(in), &find); err != nil {
		return nil, err
	}
	if owner.IsZero() {
		return nil, content.ErrNoCalendar
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

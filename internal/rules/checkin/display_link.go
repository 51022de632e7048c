package checkin

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// ErrLinkInvalid is the error of a display link that is forged, expired or revoked.
var ErrLinkInvalid = fault.New(fault.FailedPrecondition, fault.LinkInvalid, "Invalid or expired link.")

// DisplayLink is a link to a session's display: a page for a public screen at the location. The link itself is valid
// for DisplayTTL. Many may open it, but only one screen renews it: the first that reads the display again. A scanner of
// messages that opens a link once does not become that screen.
type DisplayLink struct {
	ID        tenant.DisplayLinkID
	Session   tenant.SessionID
	CreatedBy string // an actor
	CreatedAt time.Time
	// Screen is the screen that renews the link, since OpenedAt. Both are zero until then.
	Screen   tenant.ScreenID
	OpenedAt time.Time
	// SecondAt is when another screen read the display for the first time. It may be the one that should have been first,
	// so staff are told. It is zero until then.
	SecondAt time.Time
	// RevokedBy is the actor that revoked the link at RevokedAt. Both are zero until then.
	RevokedBy string
	RevokedAt time.Time
}

// MaxDisplayLinks is how many display links a session can have.
const MaxDisplayLinks = 100

// NewDisplayLink makes a display link of a session, which has a number of them already. If those are as many as there
// can be, the error is QUOTA_EXCEEDED.
func NewDisplayLink(
	id tenant.DisplayLinkID, session tenant.SessionID, existing int, by string, now time.Time,
) (DisplayLink, error) {
	if existing >= MaxDisplayLinks {
		return DisplayLink{}, fault.OverQuota("display_links", MaxDisplayLinks,
			"The limit of %d display links of a session is reached.", MaxDisplayLinks)
	}
	return DisplayLink{ID: id, Session: session, CreatedBy: by, CreatedAt: now}, nil
}

// Expires is when the link itself expires. A screen that renews it goes on.
func (l DisplayLink) Expires() time.Time { return l.CreatedAt.Add(DisplayTTL) }

// Opens reports whether reading the display with a token makes its screen the one that renews the link.
func (l DisplayLink) Opens(d Display) bool {
	return l.Screen.IsZero() && !d.Screen.IsZero() && l.RevokedAt.IsZero()
}

// Open returns the link with the screen that renews it from now on.
func (l DisplayLink) Open(screen tenant.ScreenID, now time.Time) DisplayLink {
	l.Screen, l.OpenedAt = screen, now
	return l
}

// IsSecond reports whether reading the display with a token shows for the first time that there is a second screen.
func (l DisplayLink) IsSecond(d Display) bool {
	return !l.Screen.IsZero() && !d.Screen.IsZero() && d.Screen != l.Screen && l.SecondAt.IsZero() && l.RevokedAt.IsZero()
}

// Renew returns what the next token gives access to, for a screen that read the display with a token now: the screen of
// the link gets DisplayTTL more. If the link has none yet, the caller may become it with the given number. The others
// can read until their token expires. The error is LINK_INVALID if the link is revoked.
func (l DisplayLink) Renew(d Display, candidate tenant.ScreenID, now time.Time) (Display, error) {
	switch {
	case !l.RevokedAt.IsZero():
		return Display{}, ErrLinkInvalid
	case l.Screen.IsZero():
		d.Screen = candidate
	case l.Screen == d.Screen:
		d.Expires = now.Add(DisplayTTL)
	}
	return d, nil
}

// Revoke returns the link without access. Revoking it again changes nothing.
func (l DisplayLink) Revoke(by string, now time.Time) (revoked DisplayLink, changed bool) {
	if !l.RevokedAt.IsZero() {
		return l, false
	}
	l.RevokedBy, l.RevokedAt = by, now
	return l, true
}

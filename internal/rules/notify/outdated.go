package notify

import "time"

// staleReason returns why a notice is outdated, or "".
func staleReason(n Notice, s Settings, r Recipient, m Facts, now time.Time) Reason {
	if !r.Known && n.Topic != AccessChanged { // who was deactivated is told
		return Superseded
	}
	if outdated := n.Topic.row().outdated; outdated != nil {
		if why := outdated(n, s, m, now); why != "" {
			return why
		}
	}
	if !now.Before(n.ExpiresAt) {
		return TooLate
	}
	return ""
}

// moved reports whether the session starts at another time than the message says.
func moved(n Notice, m Facts) bool { return !n.StartsAt.IsZero() && !m.StartsAt.Equal(n.StartsAt) }

func bookingOutdated(n Notice, _ Settings, m Facts, _ time.Time) Reason {
	switch {
	case m.Attended:
		return Superseded
	case !m.Booked || m.SessionGone:
		return NotBooked
	case moved(n, m):
		return Moved
	}
	return ""
}

func entryOutdated(n Notice, _ Settings, m Facts, _ time.Time) Reason {
	switch {
	case !m.Waiting || m.SessionGone:
		return Superseded
	case moved(n, m):
		return Moved
	}
	return ""
}

func offerOutdated(n Notice, _ Settings, m Facts, now time.Time) Reason {
	switch {
	case m.Offer == nil || !m.Offer.Live || m.SessionGone:
		return OfferClosed
	case !m.Offer.ExpiresAt.IsZero() && !now.Before(m.Offer.ExpiresAt):
		return OfferClosed
	case moved(n, m):
		return Moved
	}
	return ""
}

func cancellationOutdated(n Notice, _ Settings, m Facts, _ time.Time) Reason {
	if !n.Booking.IsZero() && !m.Cancelled {
		return Superseded
	}
	return ""
}

func balanceOutdated(_ Notice, s Settings, m Facts, _ time.Time) Reason {
	if m.Balance > s.CreditsLowAt {
		return Superseded
	}
	return ""
}

func codeOutdated(_ Notice, _ Settings, m Facts, _ time.Time) Reason {
	if !m.CodeOpen {
		return Superseded
	}
	return ""
}

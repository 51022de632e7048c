package notify

import "time"

// staleReason returns why a notice is outdated, or "".
func staleReason(n Notice, s Settings, r Recipient, f Facts, now time.Time) Reason {
	if !r.Known && n.Topic != AccessChanged { // who was deactivated is told
		return Superseded
	}
	if outdated := n.Topic.row().outdated; outdated != nil {
		if why := outdated(n, s, f, now); why != "" {
			return why
		}
	}
	if !now.Before(n.ExpiresAt) {
		return TooLate
	}
	return ""
}

// moved reports whether the session starts at another time than the message says.
func moved(n Notice, f Facts) bool { return !n.StartsAt.IsZero() && !f.StartsAt.Equal(n.StartsAt) }

func bookingOutdated(n Notice, _ Settings, f Facts, _ time.Time) Reason {
	switch {
	case f.Attended:
		return Superseded
	case !f.Booked || f.SessionGone:
		return NotBooked
	case moved(n, f):
		return Moved
	}
	return ""
}

func entryOutdated(n Notice, _ Settings, f Facts, _ time.Time) Reason {
	switch {
	case !f.Waiting || f.SessionGone:
		return Superseded
	case moved(n, f):
		return Moved
	}
	return ""
}

func offerOutdated(n Notice, _ Settings, f Facts, now time.Time) Reason {
	switch {
	case f.Offer == nil || !f.Offer.Live || f.SessionGone:
		return OfferClosed
	case !f.Offer.ExpiresAt.IsZero() && !now.Before(f.Offer.ExpiresAt):
		return OfferClosed
	case moved(n, f):
		return Moved
	}
	return ""
}

func cancellationOutdated(n Notice, _ Settings, f Facts, _ time.Time) Reason {
	if !n.Booking.IsZero() && !f.Cancelled {
		return Superseded
	}
	return ""
}

func balanceOutdated(_ Notice, s Settings, f Facts, _ time.Time) Reason {
	if f.Balance > s.CreditsLowAt {
		return Superseded
	}
	return ""
}

func codeOutdated(_ Notice, _ Settings, f Facts, _ time.Time) Reason {
	if !f.CodeOpen {
		return Superseded
	}
	return ""
}

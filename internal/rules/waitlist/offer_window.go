package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
)

// OfferUntil returns the end of an offer made now, for a slot that closes at closes, to a member in a zone; or the
// reason why no offer can be made.
//
// The window shrinks to a quarter of the time that is left, but not below the minimum. It does not run during quiet
// hours, and never ends after the slot closes.
func (r Rules) OfferUntil(now, closes time.Time, zone *time.Location) (until time.Time, reason VerdictReason) {
	left, least := closes.Sub(now), min(r.MinOfferWindow, r.OfferWindow) // levels can set them independently
	window := min(r.OfferWindow, max(left/4, least))
	if left < least || left <= 0 {
		return time.Time{}, NoTime
	}
	if r.OffersInQuietHours {
		return now.Add(window), ""
	}
	if r.QuietHours.addAwake(now, least, closes, zone).After(closes) {
		return time.Time{}, InQuietHours
	}
	if until = r.QuietHours.addAwake(now, window, closes, zone); until.After(closes) {
		until = closes
	}
	return until.In(now.Location()), ""
}

// maxSendDelay is how late an offer can be sent before its window starts again.
const maxSendDelay = 30 * time.Second

// EndWhenSent returns the end of an offer that is sent at a time: now, or when quiet hours end. If that is later than
// planned, the window starts again: quiet hours can be the tenant's or the member's own, and a provider may have been
// down. An end that staff chose does not change. It returns false if there is no time left to answer.
func (o Offer) EndWhenSent(rules Rules, at, now, closes time.Time, zone *time.Location) (time.Time, bool) {
	ends := o.ExpiresAt
	if !o.ByHand {
		until, why := rules.OfferUntil(at, closes, zone)
		if why != "" && at.After(now) {
			return ends, false
		}
		if why == "" && until.After(ends.Add(maxSendDelay)) {
			ends = until
		}
	}
	return ends, ends.After(at)
}

// Quiet reports whether a time is in quiet hours.
func (q QuietHours) Quiet(at time.Time, zone *time.Location) bool {
	day := civil.DateOf(at, zone)
	return q.quietSpan(day.AddDays(-1), zone).Contains(at) || q.quietSpan(day, zone).Contains(at)
}

// quietSpan returns the quiet hours that start on a day, as instants, so that an hour that clocks show twice, or not at
// all, belongs to one side only. The span is empty if there are no quiet hours.
func (q QuietHours) quietSpan(day civil.Date, zone *time.Location) civil.Span {
	end := day
	if q.Until.Before(q.From) {
		end = day.AddDays(1)
	}
	return civil.Span{Start: day.At(q.From, zone), End: end.At(q.Until, zone)}
}

// addAwake returns the time at which the given length has passed since now, not counting quiet hours. If that is after
// enough, it may return any time after enough.
func (q QuietHours) addAwake(now time.Time, length time.Duration, enough time.Time, zone *time.Location) time.Time {
	if q.From == q.Until {
		return now.Add(length)
	}
	at := now
	for day := civil.DateOf(now, zone).AddDays(-1); ; day = day.AddDays(1) {
		night := q.quietSpan(day, zone)
		if night.Length() <= 0 || !night.End.After(at) {
			continue
		}
		if awake := night.Start.Sub(at); awake > 0 {
			if length <= awake {
				return at.Add(length)
			}
			length -= awake
		}
		if at = night.End; at.After(enough) {
			return at
		}
	}
}

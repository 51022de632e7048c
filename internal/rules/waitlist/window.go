package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
)

// OfferUntil is the end of an offer made now, for a slot that closes at closes, to somebody in a zone; or the reason
// for which none can be made.
//
// It shrinks to a quarter of the time that is left, but not below the least window; it stands still during quiet
// hours; and it never outlives the slot.
func (r Rules) OfferUntil(now, closes time.Time, zone *time.Location) (until time.Time, reason string) {
	left, least := closes.Sub(now), min(r.MinOfferWindow, r.OfferWindow) // levels may say them apart
	window := min(r.OfferWindow, max(left/4, least))
	if left < least || left <= 0 {
		return time.Time{}, NoTime
	}
	if r.OffersInQuietHours {
		return now.Add(window), ""
	}
	if r.QuietHours.awake(now, least, closes, zone).After(closes) {
		return time.Time{}, AtNight
	}
	if until = r.QuietHours.awake(now, window, closes, zone); until.After(closes) {
		until = closes
	}
	return until.In(now.Location()), ""
}

// toldLate is how late an offer may be told before its window starts again.
const toldLate = 30 * time.Second

// EndWhenTold is the end of an offer whose member is told at a moment, now or when quiet hours end. If that is later
// than planned, the window starts again: quiet hours may be the tenant's or the member's own, and a provider may have
// been down. An end that staff chose stays. False: there is no time left to answer.
func (o Offer) EndWhenTold(rules Rules, at, now, closes time.Time, zone *time.Location) (time.Time, bool) {
	ends := o.ExpiresAt
	if !o.ByHand {
		until, why := rules.OfferUntil(at, closes, zone)
		if why != "" && at.After(now) {
			return ends, false
		}
		if why == "" && until.After(ends.Add(toldLate)) {
			ends = until
		}
	}
	return ends, ends.After(at)
}

// Quiet reports whether nobody is to be disturbed at a moment.
func (q QuietHours) Quiet(at time.Time, zone *time.Location) bool {
	day := civil.DateOf(at, zone)
	return q.night(day.AddDays(-1), zone).Contains(at) || q.night(day, zone).Contains(at)
}

// night is the quiet time that begins on a day: from and until instants, so that an hour that clocks show twice, or
// not at all, belongs to one side only. It is empty where there are no quiet hours.
func (q QuietHours) night(day civil.Date, zone *time.Location) civil.Span {
	end := day
	if q.Until.Before(q.From) {
		end = day.AddDays(1)
	}
	return civil.Span{Start: day.At(q.From, zone), End: end.At(q.Until, zone)}
}

// awake is the moment at which so much time has passed since now, not counting quiet hours; any moment after enough,
// where it is later than that.
func (q QuietHours) awake(now time.Time, length time.Duration, enough time.Time, zone *time.Location) time.Time {
	if q.From == q.Until {
		return now.Add(length)
	}
	at := now
	for day := civil.DateOf(now, zone).AddDays(-1); ; day = day.AddDays(1) {
		night := q.night(day, zone)
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

package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/tenant"
)

// Place is a place of an entry in a queue.
type Place struct {
	Queue
	Session tenant.SessionID // zero: a day of a window
	Times                    // of the session
	Gone    bool             // the session is cancelled or deleted
	Zone    string           // IANA, of the location
}

// Over reports whether a place can no longer get seats.
func (p Place) Over(rules Rules, now time.Time) bool {
	if p.Session.IsZero() {
		return civil.DateOf(now, loadZone(p.Zone)).After(p.Date)
	}
	return p.Gone || !now.Before(rules.LastSeat(p.Times))
}

// tellFor is how long members are told that they no longer wait.
const tellFor = 12 * time.Hour

// tellUntil returns until when it is news that a place is over: until tellFor after the day or the start, or after its
// seats were given for the last time if that is later.
func (p Place) tellUntil(rules Rules) time.Time {
	if p.Session.IsZero() {
		return p.Date.AddDays(1).On(loadZone(p.Zone)).Add(tellFor)
	}
	until := rules.LastSeat(p.Times)
	if until.Before(p.Starts) {
		until = p.Starts
	}
	return until.Add(tellFor)
}

// MinStale is the minimum of StaleAfter.
const MinStale = time.Hour

// Stale reports whether an entry has waited too long.
func (r Rules) Stale(e Entry, now time.Time) bool {
	return r.ExpireStale && !now.Before(e.CreatedAt.Add(r.StaleAfter))
}

// EndStale closes an entry once the time of all its places has passed, or once it has waited too long by the rules of
// each of them. It returns no changes if the entry stays.
func EndStale(e Entry, places []Place, rules func(Queue) Rules, now time.Time) Changes {
	over := !slices.ContainsFunc(places, func(p Place) bool { return !p.Over(rules(p.Queue), now) })
	stale := !slices.ContainsFunc(places, func(p Place) bool { return !rules(p.Queue).Stale(e, now) })
	if e.Status != Waiting || !over && !stale {
		return Changes{}
	}
	options := LeaveOptions{Reason: "It waited too long.", Notify: true}
	if over {
		options = LeaveOptions{Reason: "Its time has passed.", TellUntil: now}
		for _, p := range places {
			if until := p.tellUntil(rules(p.Queue)); until.After(options.TellUntil) {
				options.Notify, options.TellUntil = true, until
			}
		}
		if latest := now.Add(tellFor); options.TellUntil.After(latest) { // the rules or the policy were edited
			options.TellUntil = latest
		}
	}
	return closing(e, Expired, options, now)
}

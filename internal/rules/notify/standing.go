package notify

import (
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Standing says how far the limits of a tenant have grown on a channel.
type Standing struct {
	Channel    delivery.Channel
	Level      int       // how often they have doubled
	Since      time.Time // of the last change; what was sent before no longer counts
	ReviewedAt time.Time
}

// Conduct is what became of a tenant's messages since the last change of its standing, at most a StandingWeek.
type Conduct struct {
	Sent int
	Bad  int // bounces, messages to numbers that do not exist, and recipients who opted out
}

const (
	// StandingWeek is how long a tenant must send well for its limits to double.
	StandingWeek = 7 * 24 * time.Hour
	// StandingReview is the time between two reviews.
	StandingReview = 24 * time.Hour

	maxStanding = 6
	// Up to goodPercent of bad messages the limits grow, above badPercent they fall. A few messages say nothing.
	goodPercent, badPercent, fewBad = 2, 5, 10
)

// Review returns the standing after a look at what was sent. Limits double after a week with as many messages as the
// limit of a day: who sends less needs no more, and cannot earn it by waiting. They halve at once if too many messages
// are bad. Limit is that of a new tenant, for all countries together.
func (s Standing) Review(c Conduct, limit int, now time.Time) Standing {
	s.ReviewedAt = now
	switch {
	case c.Bad >= fewBad && c.Bad*100 > c.Sent*badPercent:
		s.Level, s.Since = max(0, s.Level-1), now
	case limit > 0 && c.Sent >= limit<<s.Level && c.Bad*100 <= c.Sent*goodPercent && now.Sub(s.Since) >= StandingWeek:
		s.Level, s.Since = min(maxStanding, s.Level+1), now
	}
	return s
}

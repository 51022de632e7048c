package session

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// MaxSeries is how many sessions a series makes, or an edit of one reaches, at once.
const MaxSeries = 5000

// Series is a recurring schedule. It makes sessions.
type Series struct {
	ID tenant.SeriesID
	Details
	Rule              string          // RFC 5545
	Date              civil.Date      // of the first occurrence, at the location
	Time              civil.TimeOfDay // wall clock at the location
	Duration          time.Duration   // of each session
	Excluded          []civil.Date    // days at the location that are left out
	Publish           bool            // its sessions are on sale as soon as they are made
	OpenEnded         bool            // the rule has no end
	MaterializedUntil civil.Date      // the last day up to which sessions have been made
	Version           int
	CreatedAt         time.Time
	UpdatedAt         time.Time

	TimeZone string // IANA, of the location; read along, not part of its own row
}

// SeriesFields says which parts of a series' pattern an edit means.
type SeriesFields uint8

// The fields.
const (
	RuleField SeriesFields = 1 << iota
	TimeOfDayField
	DurationField
	ExcludedField

	// WholePattern is all of them.
	WholePattern = 1<<iota - 1
)

// Has reports whether any of the fields is meant.
func (f SeriesFields) Has(fields SeriesFields) bool { return f&fields != 0 }

// Pattern is what staff decide about when the sessions of a series take place.
type Pattern struct {
	Rule     string
	Date     civil.Date
	Time     civil.TimeOfDay
	Duration time.Duration // zero: that of the service
	Excluded []civil.Date
}

// Edit gives the series with the parts of the pattern that are meant. Whether the
// rule can be read is for package recurrence to say.
func (s Series) Edit(p Pattern, fields SeriesFields, at ServiceSetting) (Series, error) {
	if fields.Has(RuleField) {
		s.Rule = p.Rule
	}
	if fields.Has(TimeOfDayField) {
		if p.Time.Second != 0 {
			return s, fault.Invalid("start_time_of_day", "Sessions of a series start on the minute.")
		}
		s.Time = p.Time
	}
	if fields.Has(DurationField) {
		if s.Duration = p.Duration; s.Duration == 0 {
			s.Duration = at.Duration
		}
		if s.Duration%time.Second != 0 {
			return s, fault.Invalid("duration", "The duration is a whole number of seconds.")
		}
	}
	if fields.Has(ExcludedField) {
		s.Excluded = slices.Clone(p.Excluded)
		slices.SortFunc(s.Excluded, civil.Date.Compare)
		s.Excluded = slices.Compact(s.Excluded)
		for _, d := range s.Excluded {
			if !d.Valid() {
				return s, fault.Invalid("excluded_dates", "There is no day %s.", d)
			}
		}
	}
	return s, nil
}

// Occurrence is a place in time that a series gives a session.
type Occurrence struct {
	On civil.Date // the local day that the rule names
	civil.Span
}

// Make makes the session for an occurrence.
func (s Series) Make(id tenant.SessionID, o Occurrence, at Setting, now time.Time) Session {
	made := Session{
		ID: id, Details: s.Details, TimeZone: at.Location.TimeZone, Delivery: at.Service.Delivery,
		Series: s.ID, OccursOn: o.On, OccursAt: o.Start.UTC(), State: catalog.Draft, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if s.Publish {
		made.State = catalog.Published
	}
	return made.At(o.Span, at.Location.Zone)
}

// Assignment deals the occurrences of a pattern out to the sessions that there are.
type Assignment struct {
	// Held sessions are the pattern's, each on the occurrence beside it.
	Held []Session
	On   []Occurrence
	// Fixed sessions stay as they are: they have started, are cancelled, deleted, or were
	// edited by themselves. They take their occurrence all the same, so that nothing
	// is made in their place.
	Fixed []Session
	// Dropped sessions are no longer in the pattern.
	Dropped []Session
	// Free occurrences are still to come and have no session.
	Free []Occurrence
}

// Assign deals out the occurrences from a day on to the series' sessions from that
// day on. Each day is dealt out by itself, so that a session never leaves the day
// on which its people booked it: as many sessions as it has occurrences for keep
// one, in order, and with as little change of time as possible.
//
// OccursOn and OccursAt of the sessions are set to what they have been dealt. Every session
// is in exactly one of Held, Fixed and Dropped, and every occurrence to come
// belongs to exactly one session or is Free.
func Assign(sessions []Session, pattern []Occurrence, now time.Time) Assignment {
	days := make(map[civil.Date]*day)
	on := func(date civil.Date) *day {
		if days[date] == nil {
			days[date] = new(day)
		}
		return days[date]
	}
	for _, s := range sessions {
		d := on(s.OccursOn)
		d.sessions = append(d.sessions, s)
	}
	for _, o := range pattern {
		d := on(o.On)
		d.pattern = append(d.pattern, o)
	}
	var a Assignment
	for _, date := range slices.SortedFunc(maps.Keys(days), civil.Date.Compare) {
		a.deal(*days[date], now)
	}
	return a
}

type day struct {
	sessions []Session
	pattern  []Occurrence
}

// deal does one day.
func (a *Assignment) deal(d day, now time.Time) {
	slices.SortFunc(d.sessions, func(x, y Session) int { return x.OccursAt.Compare(y.OccursAt) })
	slices.SortFunc(d.pattern, func(x, y Occurrence) int { return x.Start.Compare(y.Start) })
	taken := make([]bool, len(d.pattern))
	for i, n := range align(d.sessions, d.pattern) {
		s := d.sessions[i]
		fixed := s.Started(now) || s.State == catalog.Cancelled || s.Deleted || s.Detached
		if n < 0 {
			s.OccursOn, s.OccursAt = civil.Date{}, time.Time{}
			if fixed {
				a.Fixed = append(a.Fixed, s)
			} else {
				a.Dropped = append(a.Dropped, s)
			}
			continue
		}
		o := d.pattern[n]
		taken[n] = true
		s.OccursOn, s.OccursAt = o.On, o.Start.UTC()
		if fixed || !o.Start.After(now) { // nobody's session moves into the past
			a.Fixed = append(a.Fixed, s)
			continue
		}
		a.Held, a.On = append(a.Held, s), append(a.On, o)
	}
	for n, o := range d.pattern {
		if !taken[n] && o.Start.After(now) {
			a.Free = append(a.Free, o)
		}
	}
}

// align pairs sessions with occurrences of the same day, both in order: as many as
// can be, none crossing another, and moved by as little as possible in sum. It
// gives each session the number of its occurrence, or -1.
func align(sessions []Session, pattern []Occurrence) []int {
	n, m := len(sessions), len(pattern)
	paired := make([]int, n)
	if n == m {
		for i := range paired {
			paired[i] = i
		}
		return paired
	}
	moved := func(i, j int) float64 {
		return math.Abs(pattern[j].Start.Sub(sessions[i].OccursAt).Seconds())
	}
	// least[i][j] is the sum for the first i sessions and j occurrences with all of the fewer paired.
	least := make([][]float64, n+1)
	for i := range least {
		least[i] = make([]float64, m+1)
	}
	pairs := func(i, j int) bool {
		skip := math.Inf(1)
		switch cmp.Compare(i, j) {
		case -1:
			skip = least[i][j-1]
		case +1:
			skip = least[i-1][j]
		}
		with := least[i-1][j-1] + moved(i-1, j-1)
		least[i][j] = min(with, skip)
		return with <= skip
	}
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			pairs(i, j)
		}
	}
	for i := range paired {
		paired[i] = -1
	}
	for i, j := n, m; i > 0 && j > 0; {
		switch {
		case pairs(i, j):
			i, j = i-1, j-1
			paired[i] = j
		case i < j:
			j--
		default:
			i--
		}
	}
	return paired
}

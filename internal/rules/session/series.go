package session

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// MaxSeriesSessions is the most sessions that a series creates, or that an edit of a series changes, at once.
const MaxSeriesSessions = 5000

// Series is a recurring schedule, from which sessions are created.
type Series struct {
	ID tenant.SeriesID
	Details
	Rule              string          // RFC 5545
	Date              civil.Date      // of the first occurrence, local to the location
	Time              civil.TimeOfDay // local to the location
	Duration          time.Duration   // of each session
	Excluded          []civil.Date    // days without sessions, local to the location
	Publish           bool            // new sessions are published immediately
	OpenEnded         bool            // the rule has no end
	MaterializedUntil civil.Date      // sessions have been created up to this day, included
	Version           int
	CreatedAt         time.Time
	UpdatedAt         time.Time

	TimeZone string       // IANA, of the location; joined, not a column of the series
	Status   SeriesStatus // when it was read; set by WithStatus
}

// SeriesStatus says whether more sessions of a series follow.
type SeriesStatus string

// The statuses.
const (
	SeriesActive SeriesStatus = "ACTIVE"
	SeriesEnded  SeriesStatus = "ENDED" // its last day has passed
)

// WithStatus returns the series with its status at a time.
func (s Series) WithStatus(now time.Time) (Series, error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return s, fmt.Errorf("time zone of series %s: %w", s.ID, err)
	}
	if s.Status = SeriesEnded; s.OpenEnded || !s.MaterializedUntil.Before(civil.DateOf(now, zone)) {
		s.Status = SeriesActive
	}
	return s, nil
}

// SeriesFilter selects series. All fields that are set must match. A nil list matches all series.
type SeriesFilter struct {
	Locations []tenant.LocationID
	Services  []tenant.ServiceID
	Resources []tenant.ResourceID
	Coaches   []tenant.MemberID
	Statuses  []SeriesStatus
}

// SeriesFields is a set of fields of a Pattern that an edit changes.
type SeriesFields uint8

// The fields.
const (
	RuleField SeriesFields = 1 << iota
	TimeOfDayField
	DurationField
	ExcludedField

	// AllPatternFields is all of them.
	AllPatternFields = 1<<iota - 1
)

// Has reports whether the set has any of the fields.
func (f SeriesFields) Has(fields SeriesFields) bool { return f&fields != 0 }

// CheckOneSession rejects fields that a single session does not have: INVALID_FIELD.
func (f SeriesFields) CheckOneSession() error {
	switch {
	case f.Has(RuleField):
		return fault.Invalid("rule", "One session has no rule.")
	case f.Has(ExcludedField):
		return fault.Invalid("excluded_dates", "One session excludes no days.")
	}
	return nil
}

// Pattern is what staff enter for the times of a series.
type Pattern struct {
	Rule     string
	Date     civil.Date
	Time     civil.TimeOfDay
	Duration time.Duration // zero: the service's
	Excluded []civil.Date
}

// Edit returns the series with some fields of the pattern. Package recurrence validates the rule.
func (s Series) Edit(p Pattern, fields SeriesFields, at ServiceReference) (Series, error) {
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
				return s, fault.Invalid("excluded_dates", "%s is not a date.", d)
			}
		}
	}
	return s, nil
}

// Occurrence is one occurrence of a series.
type Occurrence struct {
	On civil.Date // the local day, by the rule
	civil.Span
}

// SeriesAhead is how many days ahead the sessions of a series without an end are created.
const SeriesAhead = 365

// Expand returns the occurrences of a series from a local date on: all of them if the rule ends, otherwise those within
// a year of now or of the series' start, whichever is later. The pattern has all of them, in order. It also returns the
// series with what is known about its end. Errors: INVALID_FIELD, RECURRENCE_INVALID.
func (s Series) Expand(
	pattern iter.Seq[Occurrence], zone *time.Location, from civil.Date, now time.Time,
) (Series, []Occurrence, error) {
	limit := now.Add(MaxStartDistance)
	if s.Date.On(zone).Before(now.Add(-MaxStartDistance)) || s.Date.On(zone).After(limit) {
		return s, nil, fault.Invalid("start_date", "A series starts within ten years of now.")
	}
	horizon := civil.DateOf(limit, zone)
	if s.OpenEnded {
		year := civil.DateOf(now, zone).AddDays(SeriesAhead)
		horizon = latest(year, s.Date.AddDays(SeriesAhead), s.MaterializedUntil)
	}
	last := s.Date
	var found []Occurrence
	for o := range pattern {
		if o.On.After(horizon) {
			if s.OpenEnded {
				break
			}
			return s, nil, tooLong("The rule gives sessions more than ten years ahead.")
		}
		last = o.On
		if o.On.Before(from) {
			continue
		}
		if len(found) == MaxSeriesSessions {
			return s, nil, tooLong("The rule gives more than %d sessions.", MaxSeriesSessions).
				WithMetadata("limit", strconv.Itoa(MaxSeriesSessions))
		}
		found = append(found, o)
	}
	if s.MaterializedUntil = last; s.OpenEnded {
		s.MaterializedUntil = horizon
	}
	return s, found, nil
}

func latest(dates ...civil.Date) civil.Date { return slices.MaxFunc(dates, civil.Date.Compare) }

func tooLong(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, format, args...).WithField("rule")
}

// NewSession makes the session of an occurrence.
func (s Series) NewSession(id tenant.SessionID, o Occurrence, at References, now time.Time) Session {
	made := Session{
		ID: id, Details: s.Details, TimeZone: at.Location.TimeZone, Delivery: at.Service.Delivery,
		Series: s.ID, OccursOn: o.On, OccursAt: o.Start.UTC(), State: catalog.Draft, Version: 1,
		CreatedAt: now, UpdatedAt: now,
	}
	if s.Publish {
		made.State = catalog.Published
	}
	return made.withSpan(o.Span, at.Location.Zone)
}

// Assignment is the assignment of the sessions of a series to the occurrences of its new pattern.
type Assignment struct {
	// Assigned sessions have an occurrence: the one with the same index in On.
	Assigned    []Session
	Occurrences []Occurrence
	// Unchanged sessions do not change: they have started, are cancelled or deleted, or were edited individually. They
	// still use up their occurrence, so that no session is created in their place.
	Unchanged []Session
	// Dropped sessions have no occurrence any longer.
	Dropped []Session
	// Unassigned occurrences are in the future and have no session.
	Unassigned []Occurrence
}

// Assign assigns the series' sessions from a day on to the occurrences from that day on. It handles each day
// separately, so that a session never moves to another day than its members booked. On each day, as many sessions as
// possible keep an occurrence, in order, and their times change as little as possible.
//
// It sets OccursOn and OccursAt of the sessions to the assigned occurrence. Each session is in exactly one of Held,
// Fixed and Dropped. Each future occurrence has exactly one session, or is Free.
func Assign(sessions []Session, occurrences []Occurrence, now time.Time) Assignment {
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
	for _, o := range occurrences {
		d := on(o.On)
		d.pattern = append(d.pattern, o)
	}
	var a Assignment
	for _, date := range slices.SortedFunc(maps.Keys(days), civil.Date.Compare) {
		a.assignDay(*days[date], now)
	}
	return a
}

// day has the sessions and the occurrences of one day.
type day struct {
	sessions []Session
	pattern  []Occurrence
}

func (a *Assignment) assignDay(d day, now time.Time) {
	slices.SortFunc(d.sessions, func(x, y Session) int { return x.OccursAt.Compare(y.OccursAt) })
	slices.SortFunc(d.pattern, func(x, y Occurrence) int { return x.Start.Compare(y.Start) })
	taken := make([]bool, len(d.pattern))
	for i, n := range align(d.sessions, d.pattern) {
		s := d.sessions[i]
		fixed := s.Started(now) || s.State == catalog.Cancelled || s.Deleted || s.Detached
		if n < 0 {
			s.OccursOn, s.OccursAt = civil.Date{}, time.Time{}
			if fixed {
				a.Unchanged = append(a.Unchanged, s)
			} else {
				a.Dropped = append(a.Dropped, s)
			}
			continue
		}
		o := d.pattern[n]
		taken[n] = true
		s.OccursOn, s.OccursAt = o.On, o.Start.UTC()
		if fixed || !o.Start.After(now) { // a session never moves into the past
			a.Unchanged = append(a.Unchanged, s)
			continue
		}
		a.Assigned, a.Occurrences = append(a.Assigned, s), append(a.Occurrences, o)
	}
	for n, o := range d.pattern {
		if !taken[n] && o.Start.After(now) {
			a.Unassigned = append(a.Unassigned, o)
		}
	}
}

// align pairs sessions with occurrences of the same day, both sorted. It makes as many pairs as possible, keeps the
// order, and minimizes the sum of the time differences (dynamic programming). It returns the index of each session's
// occurrence, or -1.
func align(sessions []Session, occurrences []Occurrence) []int {
	n, m := len(sessions), len(occurrences)
	paired := make([]int, n)
	moved := func(i, j int) float64 {
		return math.Abs(occurrences[j].Start.Sub(sessions[i].OccursAt).Seconds())
	}
	// least[i][j] is the smallest sum for the first i sessions and j occurrences, if all of the shorter list are
	// paired.
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

// CheckEndDate rejects an end of a series that is not a date: INVALID_FIELD.
func CheckEndDate(date civil.Date) error {
	if !date.Valid() {
		return fault.Invalid("end_date", "%s is not a date.", date)
	}
	return nil
}

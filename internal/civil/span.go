package civil

import "time"

// Span is a half-open stretch of absolute time: Start is in it, End is not.
type Span struct {
	Start time.Time
	End   time.Time
}

// Length is the time that passes, whatever clocks show meanwhile; it is not
// positive for an empty span.
func (s Span) Length() time.Duration { return s.End.Sub(s.Start) }

// Contains reports whether an instant is in the span.
func (s Span) Contains(t time.Time) bool { return !t.Before(s.Start) && t.Before(s.End) }

// Overlaps reports whether two spans share an instant. Spans that only touch,
// one ending when the other starts, do not.
func (s Span) Overlaps(other Span) bool {
	return s.Start.Before(other.End) && other.Start.Before(s.End)
}

package civil

import "time"

// Span is a half-open interval between two instants: Start is in it, End is not.
type Span struct {
	Start time.Time
	End   time.Time
}

// Length returns the elapsed time, regardless of clock changes. It is zero or negative for an empty span.
func (s Span) Length() time.Duration { return s.End.Sub(s.Start) }

// Contains reports whether an instant is in the span.
func (s Span) Contains(t time.Time) bool { return !t.Before(s.Start) && t.Before(s.End) }

// Overlaps reports whether two spans share an instant. Spans that only touch, where one ends as the other starts, do
// not.
func (s Span) Overlaps(other Span) bool {
	return s.Start.Before(other.End) && other.Start.Before(s.End)
}

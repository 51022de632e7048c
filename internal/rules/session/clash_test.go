package session_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

func TestClashes_FindsOverlapsOfResourceAndCoach(t *testing.T) {
	t.Parallel()
	bike := tenant.New[tenant.ResourceID](noon)
	at := func(hour int, resource tenant.ResourceID, coach tenant.MemberID) session.Session {
		return session.Session{
			Details:  session.Details{Resource: resource, Coach: coach},
			StartsAt: noon.Add(time.Duration(hour) * time.Hour), EndsAt: noon.Add(time.Duration(hour+2) * time.Hour),
		}
	}
	none, noCoach := tenant.ResourceID{}, tenant.MemberID{}
	span := func(hour int) civil.Span { return at(hour, none, noCoach).Span() }
	for name, tt := range map[string]struct {
		sessions []session.Session
		busy     []session.BusySpan
		want     []session.Clash
	}{
		"nothing in common": {
			sessions: []session.Session{
				at(0, mat, noCoach), at(0, bike, noCoach), at(0, none, coach), at(0, none, noCoach),
			},
		},
		"one after another": {
			sessions: []session.Session{at(0, mat, coach), at(2, mat, coach)},
			busy:     []session.BusySpan{{mat, coach, span(4)}, {mat, coach, span(-2)}},
		},
		"the same resource": {
			sessions: []session.Session{at(0, mat, noCoach), at(1, mat, noCoach)},
			want:     []session.Clash{{Session: 1, With: 0, Span: span(0)}},
		},
		"later in the file": {
			sessions: []session.Session{at(1, mat, noCoach), at(0, mat, noCoach)},
			want:     []session.Clash{{Session: 1, With: 0, Span: span(1)}},
		},
		"the same staff member": {
			sessions: []session.Session{at(0, mat, coach), at(1, bike, coach)},
			want:     []session.Clash{{Session: 1, With: 0, Span: span(0), Coach: true}},
		},
		"taken already": {
			sessions: []session.Session{at(0, mat, noCoach)}, busy: []session.BusySpan{{mat, noCoach, span(1)}},
			want: []session.Clash{{Session: 0, With: -1, Span: span(1)}},
		},
		"taken already, by staff": {
			sessions: []session.Session{at(0, none, coach)}, busy: []session.BusySpan{{bike, coach, span(1)}},
			want: []session.Clash{{Session: 0, With: -1, Span: span(1), Coach: true}},
		},
		"both, one told each": {
			sessions: []session.Session{at(0, mat, coach), at(1, mat, coach)},
			want: []session.Clash{
				{Session: 1, With: 0, Span: span(0)}, {Session: 1, With: 0, Span: span(0), Coach: true},
			},
		},
	} {
		test.Eq(t, tt.want, session.Clashes(tt.sessions, tt.busy), test.Sprint(name))
	}
}

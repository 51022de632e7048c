package testkit

import (
	"cmp"
	"context"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Session describes a session. Zero values are those of an ordinary class: in two days, an hour long, with ten seats.
type Session struct {
	Starts   time.Time
	Minutes  int
	Capacity int // -1: unlimited
	Waitlist int
	State    catalog.SessionState
	Blocked  bool
	Title    string
	Location tenant.LocationID
	Service  tenant.ServiceID
	Resource tenant.ResourceID
	Coach    tenant.Caller
}

// AddSession creates a session and brings it into its state.
func (s *Studio) AddSession(d Session) tenant.SessionID {
	s.T.Helper()
	in := session.Input{
		Service: d.Service, Location: d.Location, Resource: d.Resource, Coach: d.Coach.Member, Title: d.Title,
		StartsAt: d.Starts, Capacity: new(cmp.Or(d.Capacity, 10)), Unlimited: d.Capacity < 0, WaitlistCapacity: &d.Waitlist,
	}
	if in.Service.IsZero() {
		in.Service = s.Service
	}
	if in.Location.IsZero() {
		in.Location = s.Location
	}
	if in.StartsAt.IsZero() {
		in.StartsAt = InTwoDays
	}
	in.EndsAt = in.StartsAt.Add(time.Duration(cmp.Or(d.Minutes, 60)) * time.Minute)
	id := s.CreateSession(in, d.State != catalog.Draft).ID
	if d.State == catalog.Cancelled {
		s.CancelSession(id)
	}
	if d.Blocked {
		s.Block(id)
	}
	return id
}

// CreateSession creates a session as the owner.
func (s *Studio) CreateSession(in session.Input, publish bool) session.Session {
	s.T.Helper()
	return expect.Value(s.App.Schedules.CreateSession(context.Background(), s.Owner, in, publish))(s.T)
}

// SessionInput is the input of an ordinary session.
func (s *Studio) SessionInput(starts time.Time) session.Input {
	return session.Input{Service: s.Service, Location: s.Location, StartsAt: starts}
}

// EditSession edits fields of a session.
func (s *Studio) EditSession(id tenant.SessionID, in session.Input, fields session.Fields) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Schedules.UpdateSession(context.Background(), s.Owner, id, nil, in, fields))
}

// SetCapacity changes the capacity of a session.
func (s *Studio) SetCapacity(id tenant.SessionID, capacity int) {
	s.T.Helper()
	s.EditSession(id, session.Input{Capacity: &capacity}, session.CapacityField)
}

// Block blocks a session.
func (s *Studio) Block(id tenant.SessionID) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Schedules.BlockSession(context.Background(), s.Owner, id, ""))
}

// CancelSession cancels a session without telling anyone.
func (s *Studio) CancelSession(id tenant.SessionID) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Schedules.CancelSession(context.Background(), s.Owner, id, schedules.Removal{}))
}

// DeleteSession deletes a session without telling anyone.
func (s *Studio) DeleteSession(id tenant.SessionID) {
	s.T.Helper()
	done := expect.Value(s.App.Schedules.BulkDeleteSessions(context.Background(), s.Owner, schedules.BulkRequest{
		Filter: session.Filter{Sessions: []tenant.SessionID{id}}, IncludeBooked: true,
	}))(s.T)
	must.EqOp(s.T, 1, done.Sessions, must.Sprintf("%d sessions were deleted", done.Sessions))
}

// GetSession reads a session as the owner.
func (s *Studio) GetSession(id tenant.SessionID) session.Session {
	s.T.Helper()
	return expect.Value(s.App.Schedules.GetSession(context.Background(), s.Owner, id))(s.T).Session
}

// WeekQuery asks for the sessions of the week that begins on the day of Noon.
func WeekQuery() schedules.SessionQuery {
	return schedules.SessionQuery{Filter: WeekFilter(), Limit: 500}
}

// WeekFilter selects the week that begins on the day of Noon.
func WeekFilter() session.Filter {
	return session.Filter{From: Noon.Add(-12 * time.Hour), Until: Noon.AddDate(0, 0, 7).Add(-12 * time.Hour)}
}

// SeriesInput is the input of a series on Tuesdays and Thursdays at 18:00 in Berlin, from the day after Noon. The
// clocks go forward between its sessions.
func (s *Studio) SeriesInput() schedules.SeriesInput {
	return schedules.SeriesInput{
		Template: session.Input{Service: s.Service, Location: s.Location},
		Pattern: session.Pattern{
			Rule: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=6", Date: civiltest.Date("2026-03-17"), Time: civil.TimeOfDay{Hour: 18},
		},
		Publish: true,
	}
}

// CreateSeries creates a series as the owner.
func (s *Studio) CreateSeries(in schedules.SeriesInput) (session.Series, []tenant.SessionID) {
	s.T.Helper()
	made, ids, err := s.App.Schedules.CreateSeries(context.Background(), s.Owner, in)
	s.NoError(err)
	return made, ids
}

// CreateEndlessSeries creates a series without an end, at 18:00 in Berlin from Noon's day on.
func (s *Studio) CreateEndlessSeries(rule string) session.Series {
	s.T.Helper()
	made, _ := s.CreateSeries(schedules.SeriesInput{
		Template: session.Input{Service: s.Service, Location: s.Location},
		Pattern: session.Pattern{
			Rule: rule, Date: civiltest.Date("2026-03-16"), Time: civil.TimeOfDay{Hour: 18}, Duration: time.Hour,
		},
		Publish: true,
	})
	return made
}

// EditSeries edits a series as the owner.
func (s *Studio) EditSeries(e schedules.SeriesEdit) schedules.SeriesEditResult {
	s.T.Helper()
	return expect.Value(s.App.Schedules.UpdateSeries(context.Background(), s.Owner, e))(s.T)
}

// ImportHeader is the header of an import of sessions.
const ImportHeader = "service,location,date,start,end,duration_minutes,resource,coach_email," +
	"capacity,waitlist_capacity,title,notes,status\n"

// ImportSessions imports a file of sessions as the owner.
func (s *Studio) ImportSessions(file string, dryRun bool) schedules.SessionImport {
	s.T.Helper()
	parsed := expect.Value(session.ParseImport([]byte(file)))(s.T)
	return expect.Value(s.App.Schedules.ImportSessions(context.Background(), s.Owner, parsed, dryRun, nil))(s.T)
}

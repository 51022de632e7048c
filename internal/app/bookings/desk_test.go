package bookings_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// desk returns a person with some permissions and no role that is built in.
func desk(studio *testkit.Studio, permissions ...string) tenant.Caller {
	who := studio.AddMember("Dora Desk")
	who.Roles, who.May = []string{"desk"}, make(tenant.Permissions)
	for _, p := range permissions {
		who.May[p] = true
	}
	return who
}

// What a role is called does not matter: each permission opens what it names.
func TestBook_PermissionsOpenSessionsAtTheDesk(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	id := studio.AddSession(testkit.Session{})
	session := studio.GetSession(id)
	book := func(by tenant.Caller) error {
		r := bookings.BookRequest{
			Session: id, Member: studio.AddMember("Walter").Member, Party: 1, Channel: catalog.Phone,
		}
		_, err := studio.App.Bookings.Book(t.Context(), by, r)
		return err
	}
	phones := desk(studio, booking.CreateForOthers)
	late := desk(studio, booking.CreateForOthers, booking.AfterStart)
	records := desk(studio, booking.CreateForOthers, booking.RecordPast)

	expect.Reason(t, fault.PermissionDeniedReason)(book(desk(studio, booking.AfterStart)))
	must.NoError(t, book(phones))
	studio.Clock.Set(session.StartsAt.Add(10 * time.Minute))
	expect.Reason(t, fault.SessionNotOpen)(book(phones))
	expect.Reason(t, fault.SessionNotOpen)(book(records))
	test.NoError(t, book(late))
	studio.Clock.Set(session.EndsAt)
	expect.Reason(t, fault.SessionNotOpen)(book(late))
	test.NoError(t, book(records))
	test.EqOp(t, 3, studio.SeatsTaken(id))
}

// The seats that a session gets for a booking are no one else's: who waits goes on waiting.
func TestBook_RaisesTheCapacityOfAFullSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	id := studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 3})
	studio.MustBook(studio.AddMember("Ana"), id)
	studio.MustBook(studio.AddMember("Ben"), id)
	studio.MustWaitlist(studio.AddMember("Wanda"), id)
	before := studio.GetSession(id)
	r := bookings.BookRequest{
		Session: id, Member: studio.AddMember("Gil").Member, Party: 2, Channel: catalog.Online, Raise: true,
	}

	expect.Reason(t, fault.PermissionDeniedReason)(studio.App.Bookings.Book(t.Context(), studio.Coach, r))
	made := expect.Value(studio.App.Bookings.Book(t.Context(), studio.Owner, r))(t)
	test.EqOp(t, 2, made.Booking.Party)
	after := studio.GetSession(id)
	test.Eq(t, new(4), after.Capacity)
	test.EqOp(t, 4, after.SeatsTaken)
	test.EqOp(t, 1, after.Waiting, test.Sprint("the entry was promoted, or lost"))
	test.EqOp(t, before.Version+1, after.Version, test.Sprint("who edits the session now overwrites its capacity"))
	test.Eq(t, map[string]any{"before": map[string]any{"capacity": 2.0}, "after": map[string]any{"capacity": 4.0}},
		studio.LastAudit("session.updated"))
	test.StrContains(t, studio.SessionEvents(id), "session.updated")
	studio.WantSound()
}

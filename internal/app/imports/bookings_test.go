package imports_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func importBookings(studio *testkit.Studio, req imports.Request) fileimport.Import {
	studio.T.Helper()
	first := expect.Value(studio.App.Imports.ImportBookings(studio.T.Context(), studio.Owner, req))(studio.T)
	test.EqOp(studio.T, fileimport.Bookings, first.Kind)
	return ended(studio, first.ID)
}

// in gives the cells of a row that name a session.
func in(studio *testkit.Studio, id tenant.SessionID) string {
	return studio.Text(`select concat_ws(',', v.name, to_char(s.starts_at at time zone l.time_zone, 'YYYY-MM-DD'),
		to_char(s.starts_at at time zone l.time_zone, 'HH24:MI')) from sessions s
		join services v on v.id = s.service_id join locations l on l.id = s.location_id where s.id = $1`, id)
}

// Bookings take seats and no credits, and nobody is told. A credit that paid returns to the plan.
func TestImportBookings_TakesSeatsAndNoCredits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	ana := studio.AddMemberWith(member.Member{Name: "Ana", Email: "ana@example.com"})
	bo := studio.AddMemberWith(member.Member{Name: "Bo", Email: "bo@example.com"})
	session := studio.AddSession(testkit.Session{Capacity: 6, Starts: testkit.Noon.Add(80 * time.Hour)})
	importPlans(studio, studio.Owner, request("email,plan,balance\nana@example.com,Ten,7\nbo@example.com,Ten,2\n", false))
	file := "Class,Date,Start time,Client,Email,Guest,Spots,Paid with credit\n" +
		in(studio, session) + ",Ana,ana@example.com,,2,yes\n" + in(studio, session) + ",,bo@example.com,,1,no\n" +
		in(studio, session) + ",,gil@example.com,Gil,3,\n"
	bookings := func() int { return studio.Count(`select count(*) from bookings`) }

	tried := importBookings(studio, request(file, true))
	test.EqOp(t, fileimport.Succeeded, tried.Status, test.Sprint(tried.Problems))
	test.Eq(t, &fileimport.Total{File: 6, Ledger: 6}, tried.Total)
	test.EqOp(t, 0, bookings(), test.Sprint("a dry run"))

	done := importBookings(studio, request(file, false))
	test.EqOp(t, fileimport.Succeeded, done.Status, test.Sprint(done.Problems))
	test.EqOp(t, 3, done.Created)
	test.Eq(t, &fileimport.Total{File: 6, Ledger: 6}, done.Total)
	test.EqOp(t, 6, studio.SeatsTaken(session))
	test.EqOp(t, 9, studio.Count(`select sum(balance) from subscriptions`), test.Sprint("what was left"))
	test.Eq(t, map[string]any{"bookings": 3.0, "seats": 6.0}, studio.LastAudit("booking.imported"))
	test.EqOp(t, "Gil gil@example.com", studio.Text(
		`select concat_ws(' ', contact_name, contact_email) from bookings where member_id is null`))

	again := importBookings(studio, request(file, false))
	test.EqOp(t, fileimport.Failed, again.Status)
	for _, p := range again.Problems {
		test.EqOp(t, fault.AlreadyBooked, p.Reason)
	}
	test.SliceLen(t, 3, again.Problems)

	// Cancelling returns the credits that paid, and no others.
	book := func(who tenant.Caller) (id tenant.BookingID) {
		text := studio.Text(`select id::text from bookings where member_id = $1`, who.Member)
		return expect.Value(tenant.Parse[tenant.BookingID](text))(t)
	}
	test.True(t, studio.MustCancel(ana, book(ana)).Refunded)
	test.False(t, studio.MustCancel(bo, book(bo)).Refunded)
	test.EqOp(t, "9 2", studio.Text(`select string_agg(balance::text, ' ' order by balance desc) from subscriptions`))
	test.EqOp(t, 3, studio.SeatsTaken(session))
}

func TestImportBookings_SendsOnlyReminders(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.AddMemberWith(member.Member{Name: "Ana", Email: "ana@example.com"})
	session := studio.AddSession(testkit.Session{Capacity: 6, Starts: testkit.Noon.Add(80 * time.Hour)})
	done := importBookings(studio, request("Class,Date,Start,Client\n"+in(studio, session)+",Ana\n", false))
	test.EqOp(t, 1, done.Created, test.Sprint(done.Problems))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from events where type = 'booking.confirmed' and data = '{"imported": true, "party_size": 1,
		"status": "CONFIRMED", "payment_status": "UNPAID"}'::jsonb`), test.Sprint(studio.Text(
		`select data::text from events where type = 'booking.confirmed'`)))
}

// Rows that do not fit are left out, in the order of the file, and the others are imported.
func TestImportBookings_NeverTakesASeatTooMany(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	session := studio.AddSession(testkit.Session{Capacity: 4, Starts: testkit.Noon.Add(80 * time.Hour)})
	studio.MustBook(studio.AddMember("First"), session)
	file := "Class,Date,Start,Client,Seats\n"
	for i, seats := range []int{2, 2, 1, 1} {
		name := fmt.Sprint("Member ", i)
		studio.AddMember(name)
		file += fmt.Sprintf("%s,%s,%d\n", in(studio, session), name, seats)
	}
	done := importBookings(studio, imports.Request{File: []byte(file), LeaveOut: true})
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 2, done.Created)
	test.Eq(t, &fileimport.Total{File: 3, Ledger: 3}, done.Total)
	test.Eq(t, []fileimport.Problem{
		problem(3, fault.SessionFull, "seats", "Too few seats are left in the session: 1."),
		problem(5, fault.SessionFull, "seats", "Too few seats are left in the session: 0."),
	}, done.Problems)
	test.EqOp(t, 4, studio.SeatsTaken(session))
}

// Members who book while a file is imported, and the file, share the seats.
func TestImportBookings_SharesSeatsWithMembersWhoBook(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const capacity = 20
	session := studio.AddSession(testkit.Session{Capacity: capacity, Starts: testkit.Noon.Add(80 * time.Hour)})
	file := "Class,Date,Start,Client\n"
	var others []tenant.Caller
	for i := range capacity {
		name := fmt.Sprint("Member ", i)
		studio.AddMember(name)
		others = append(others, studio.AddMember(fmt.Sprint("Other ", i)))
		file += fmt.Sprintf("%s,%s\n", in(studio, session), name)
	}
	first := expect.Value(studio.App.Imports.ImportBookings(
		t.Context(), studio.Owner, imports.Request{File: []byte(file), LeaveOut: true}))(t)
	errs := make(chan error)
	go func() { errs <- studio.OtherNode().App.Imports.RunDue(t.Context(), studio.Tenant) }()
	for _, who := range others {
		_, err := studio.Book(who, session)
		if err != nil {
			test.EqOp(t, fault.SessionFull, fault.ReasonOf(err))
		}
	}
	must.NoError(t, <-errs)
	done := ended(studio, first.ID)
	test.True(t, done.Ended())
	test.LessEq(t, capacity, studio.SeatsTaken(session))
	test.EqOp(t, studio.SeatsTaken(session), studio.Count(
		`select count(*) from bookings where session_id = $1 and status = 'CONFIRMED'`, session))
}

func TestImportBookings_TakesLargeFiles(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const rows, each = 10_000, 50
	var members, bookings strings.Builder
	members.WriteString("name,email\n")
	bookings.WriteString("Class,Date,Start,Email\n")
	var session string
	for i := range rows {
		if i%each == 0 {
			starts := testkit.Noon.Add(time.Duration(i/each+1) * time.Hour)
			session = in(studio, studio.AddSession(testkit.Session{Capacity: each, Starts: starts}))
		}
		fmt.Fprintf(&members, "Member %d,m%d@example.com\n", i, i)
		fmt.Fprintf(&bookings, "%s,m%d@example.com\n", session, i)
	}
	studio.ImportMembers(members.String(), false)
	done := importBookings(studio, request(bookings.String(), false))
	test.EqOp(t, rows, done.Created)
	test.Eq(t, &fileimport.Total{File: rows, Ledger: rows}, done.Total)
}

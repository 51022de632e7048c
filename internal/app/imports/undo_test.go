package imports_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func importMembers(studio *testkit.Studio, file string) fileimport.Import {
	studio.T.Helper()
	first := expect.Value(studio.App.Imports.ImportMembers(
		studio.T.Context(), studio.Owner, request(file, false)))(studio.T)
	done := ended(studio, first.ID)
	must.EqOp(studio.T, fileimport.Succeeded, done.Status, must.Sprint(done.Problems))
	return done
}

// undone asks for the undoing of an import, and works on it.
func undone(studio *testkit.Studio, id tenant.ImportID) fileimport.Import {
	studio.T.Helper()
	asked := expect.Value(studio.App.Imports.UndoImport(studio.T.Context(), studio.Owner, id))(studio.T)
	test.EqOp(studio.T, fileimport.Undoing, asked.Status)
	return ended(studio, id)
}

// inUse checks that the undoing of an import is refused, and returns what is in use.
func inUse(studio *testkit.Studio, id tenant.ImportID) string {
	studio.T.Helper()
	f := expect.Reason(studio.T, fault.ImportInUse)(studio.App.Imports.UndoImport(studio.T.Context(), studio.Owner, id))
	return f.Metadata["count"] + ": " + f.Metadata["first"]
}

func TestUndoImport_OfSessionsDeletesThem(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	done := ended(studio, started(studio, good, false).ID)
	test.EqOp(t, testkit.Noon.Add(24*time.Hour), done.UndoDeadline())
	got := undone(studio, done.ID)
	test.EqOp(t, fileimport.Undone, got.Status)
	test.EqOp(t, testkit.Noon, got.Undo.At)
	test.EqOp(t, studio.Owner.Actor(), got.Undo.Actor)
	test.True(t, got.UndoDeadline().IsZero())
	test.EqOp(t, 0, studio.Count(`select count(*) from sessions where deleted_at is null`))
	test.Eq(t, map[string]any{"kind": "SESSIONS", "undone": 1.0}, studio.LastAudit("import.reversed"))
	test.EqOp(t, 0, studio.Count(`select count(*) from notices`), test.Sprint("nobody is told"))

	// Again: the first answer. The file can be imported once more.
	again := expect.Value(studio.App.Imports.UndoImport(t.Context(), studio.Owner, done.ID))(t)
	test.EqOp(t, fileimport.Undone, again.Status)
	test.EqOp(t, 1, ended(studio, started(studio, good, false).ID).Created)
	studio.WantSound()
}

func TestUndoImport_OfSessionsWithBookingsIsRefused(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	done := ended(studio, started(studio, good, false).ID)
	id := expect.Value(tenant.Parse[tenant.SessionID](studio.Text(`select id::text from sessions`)))(t)
	expect.OK(t)(studio.App.Schedules.PublishSession(t.Context(), studio.Owner, id, nil))
	mia := studio.AddMember("Mia")
	booked := studio.MustBook(mia, id)
	test.EqOp(t, "1: Vinyasa 2026-03-28 18:00", inUse(studio, done.ID))
	studio.MustCancel(mia, booked)
	test.EqOp(t, "1: Vinyasa 2026-03-28 18:00", inUse(studio, done.ID), test.Sprint("it was booked"))
	studio.WantSound()
}

// Members stay as names without contacts, so that a mended file can be imported.
func TestUndoImport_OfMembersFreesTheirContacts(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const file = "name,email,phone,subject\nAna,ana@example.com,+351912345678,auth-1\nBo,,,\n"
	done := importMembers(studio, file)
	ids := expect.Value(studio.App.Accounts.ListMembers(t.Context(), studio.Owner,
		member.Search{Import: done.ID, Limit: 9}))(t)
	must.SliceLen(t, 2, ids)
	got := undone(studio, done.ID)
	test.EqOp(t, fileimport.Undone, got.Status)
	test.EqOp(t, "Ana|||INACTIVE|2, Bo|||INACTIVE|2", studio.Text(`
		select string_agg(concat_ws('|', name, email, phone, status, version), ', ' order by name) from members
		where id = any($1)`, []tenant.MemberID{ids[0].ID, ids[1].ID}))
	test.EqOp(t, 0, studio.Count(`select count(*) from sign_in_addresses where member_id = $1`, ids[0].ID))
	test.EqOp(t, 1, studio.Count(`select count(*) from events where type = 'member.changed' and member_id = $1
		and data->'changed' ? 'status' and data->'changed' ? 'email'`, ids[0].ID))
	test.EqOp(t, 2, importMembers(studio, file).Created, test.Sprint("they are in the way"))
	studio.WantSound()
}

func TestUndoImport_OfMembersIsRefusedOnceTheyAreUsed(t *testing.T) {
	t.Parallel()
	uses := map[string]func(*testkit.Studio, tenant.Caller){
		"a booking": func(s *testkit.Studio, who tenant.Caller) {
			s.MustBook(who, s.AddSession(testkit.Session{Capacity: 1, Starts: testkit.Noon.Add(time.Hour)}))
		},
		"a plan": func(s *testkit.Studio, who tenant.Caller) {
			s.Subscribe(who, s.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
		},
		"a sign-in": func(s *testkit.Studio, who tenant.Caller) {
			s.Exec(`update members set sign_in_email = email where id = $1`, who.Member)
		},
		"a place on the waitlist": func(s *testkit.Studio, who tenant.Caller) {
			class, _, _ := s.AddFullSession(1)
			s.MustWaitlist(who, class)
		},
		"a role": func(s *testkit.Studio, who tenant.Caller) {
			s.Exec(`insert into member_roles (tenant_id, member_id, role, created_at) values ($1, $2, 'coach', $3)`,
				s.Tenant, who.Member, testkit.Noon)
		},
	}
	testkit.Each(t, uses, func(studio *testkit.Studio, use func(*testkit.Studio, tenant.Caller)) {
		t := studio.T
		done := importMembers(studio, "name,email\nAna,ana@example.com\nBo,bo@example.com\n")
		found := expect.Value(studio.App.Accounts.ListMembers(
			t.Context(), studio.Owner, member.Search{Query: "Bo", Limit: 1}))(t)
		bo := tenant.Caller{Tenant: studio.Tenant, Subject: "bo", Member: found[0].ID, Roles: []string{tenant.RoleMember}}
		use(studio, bo)
		test.EqOp(t, "1: Bo", inUse(studio, done.ID))
		test.EqOp(t, 2, studio.Count(`select count(*) from members where status = 'ACTIVE' and email like '%@example.com'
			and created_at = $1 and name in ('Ana', 'Bo')`, testkit.Noon))
	})
}

// An open invitation of an undone member ends, and its mail does not leave.
func TestUndoImport_OfMembersEndsInvitations(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	done := importMembers(studio, "name,email\nAna,ana@example.com\nBo,bo@example.com\nCid,\n")
	counted := func() (int, int) {
		i := expect.Value(studio.App.Imports.GetImport(t.Context(), studio.Owner, done.ID, false))(t)
		return i.Invitable, i.WithoutEmail
	}
	invitable := func() []member.Member {
		return expect.Value(studio.App.Accounts.ListMembers(t.Context(), studio.Owner,
			member.Search{Import: done.ID, Invitable: true, Limit: 9}))(t)
	}
	can, cannot := counted()
	test.EqOp(t, 2, can)
	test.EqOp(t, 1, cannot)
	who := invitable()
	must.SliceLen(t, 2, who)
	expect.OK(t)(studio.App.Accounts.CreateInvitations(t.Context(), studio.Owner, invitees(who[:1])))
	can, _ = counted()
	test.EqOp(t, 1, can)
	test.SliceLen(t, 1, invitable())
	test.EqOp(t, fileimport.Undone, undone(studio, done.ID).Status)
	test.EqOp(t, 1, studio.Count(`select count(*) from invitations where revoked_at = $1`, testkit.Noon))
	test.EqOp(t, 0, studio.Count(`select count(*) from platform_mails`))
	can, cannot = counted()
	test.EqOp(t, 0, can+cannot)
}

// The ledger keeps its lines, and one more takes what is left.
func TestUndoImport_OfPlansReversesTheLedger(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	ana := studio.AddMemberWith(member.Member{Name: "Ana", Email: "ana@example.com"})
	const file = "email,plan,balance,renewal\nana@example.com,Ten,7,\nana@example.com,Monthly,3,2026-03-27\n" +
		"ana@example.com,Flat,,\n"
	done := importPlans(studio, studio.Owner, request(file, false))
	must.EqOp(t, 3, done.Created, must.Sprint(done.Problems))
	// The next period begins before the import is undone.
	studio.Clock.Advance(23 * time.Hour)
	studio.Sweep()
	test.EqOp(t, fileimport.Undone, undone(studio, done.ID).Status)
	test.EqOp(t, "CANCELLED 0, CANCELLED 0, CANCELLED 0", studio.Text(
		`select string_agg(concat_ws(' ', status, balance), ', ') from subscriptions where member_id = $1`, ana.Member))
	test.EqOp(t, "GRANT 7, CORRECTION -7", studio.Text(`
		select string_agg(concat_ws(' ', e.kind, e.amount), ', ' order by line) from credit_entries e
		join subscriptions u on u.id = e.subscription_id join plans p on p.id = u.plan_id where p.name = 'Ten'`))
	test.EqOp(t, 0, studio.Count(`select count(*) from notices`), test.Sprint("nobody is told"))
	again := importPlans(studio, studio.Owner, request(strings.Replace(file, "03-27", "04-27", 1), false))
	test.EqOp(t, 3, again.Created, test.Sprint("they are in the way", again.Problems))
	studio.WantSound()
}

func TestUndoImport_OfPlansIsRefusedOnceTheyPaid(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	studio.TakePayments()
	ana := studio.AddMemberWith(member.Member{Name: "Ana", Email: "ana@example.com"})
	bo := studio.AddMemberWith(member.Member{Name: "Bo", Email: "bo@example.com"})
	done := importPlans(studio, studio.Owner, request(
		"email,plan,balance\nana@example.com,Ten,7\nbo@example.com,Flat,\n", false))
	class := studio.AddSession(testkit.Session{Capacity: 5, Starts: testkit.Noon.Add(50 * time.Hour)})
	first, second := studio.MustBook(ana, class), studio.MustBook(bo, class)
	test.EqOp(t, "2: Ana, Bo", inUse(studio, done.ID))
	studio.MustCancel(ana, first)
	studio.MustCancel(bo, second)
	test.EqOp(t, "2: Ana, Bo", inUse(studio, done.ID), test.Sprint("they have paid"))
	studio.Exec(`update bookings set cancel_reason = $1`, fileimport.UndoReason) // as by undoing an import of bookings
	sub := expect.Value(tenant.Parse[tenant.SubscriptionID](studio.Text(
		`select id::text from subscriptions where member_id = $1`, ana.Member)))(t)
	line, _, err := studio.App.Accounts.GrantCredits(t.Context(), studio.Owner, sub, 2, "sold two more")
	must.NoError(t, err)
	test.EqOp(t, 2, line.Line.Amount)
	test.EqOp(t, "1: Ana", inUse(studio, done.ID))
	studio.WantSound()
}

// Their seats go to the waitlist, and credits that paid elsewhere go where they came from.
func TestUndoImport_OfBookingsFreesTheirSeats(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	studio.SetPromoting()
	studio.AddMemberWith(member.Member{Name: "Ana", Email: "ana@example.com"})
	plans := importPlans(studio, studio.Owner, request("email,plan,balance\nana@example.com,Ten,7\n", false))
	// It starts within the cancellation window.
	class := studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 2, Starts: testkit.Noon.Add(time.Hour)})
	done := importBookings(studio, request("Class,Date,Start,Email,Guest,Paid with credit\n"+
		in(studio, class)+",ana@example.com,,yes\n"+in(studio, class)+",gil@example.com,Gil,\n", false))
	must.EqOp(t, 2, done.Created, must.Sprint(done.Problems))
	waits := studio.AddMember("Mia")
	entry := studio.MustWaitlist(waits, class)
	test.EqOp(t, "1: Ana", inUse(studio, plans.ID))
	test.EqOp(t, fileimport.Undone, undone(studio, done.ID).Status)
	test.EqOp(t, "CANCELLED f 0, CANCELLED f 0", studio.Text(`
		select string_agg(concat_ws(' ', status, late_cancelled, credits), ', ') from bookings where id = any(
			select unnest(created_ids) from imports where id = $1)`, done.ID))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Booked})
	test.EqOp(t, 1, studio.SeatsTaken(class))
	test.EqOp(t, "GRANT 7, GRANT 1, BOOKING -1, REFUND 1, CORRECTION -1", studio.Text(
		`select string_agg(concat_ws(' ', kind, amount), ', ' order by line) from credit_entries`))
	test.EqOp(t, 2, studio.Count(
		`select count(*) from events where type = 'booking.cancelled' and data->>'notify' = 'false'`))
	// The import before it can be undone now.
	test.EqOp(t, fileimport.Undone, undone(studio, plans.ID).Status)
	test.EqOp(t, 0, studio.Count(`select sum(balance) from subscriptions`))
	studio.WantSound()
}

func TestUndoImport_OfBookingsIsRefusedOnceTheyAreChanged(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*testkit.Studio, tenant.Caller, tenant.BookingID){
		"checked in": func(s *testkit.Studio, _ tenant.Caller, id tenant.BookingID) {
			s.Clock.Advance(50 * time.Minute)
			expect.OK(s.T)(s.CheckIn(s.Owner, id))
		},
		"cancelled":   func(s *testkit.Studio, who tenant.Caller, id tenant.BookingID) { s.MustCancel(who, id) },
		"has started": func(s *testkit.Studio, _ tenant.Caller, _ tenant.BookingID) { s.Clock.Advance(time.Hour) },
	}
	testkit.Each(t, changes, func(
		studio *testkit.Studio, change func(*testkit.Studio, tenant.Caller, tenant.BookingID),
	) {
		ana := studio.AddMemberWith(member.Member{Name: "Ana", Email: "ana@example.com"})
		studio.AddMemberWith(member.Member{Name: "Bo", Email: "bo@example.com"})
		studio.SetPolicy(freeCancellation)
		class := studio.AddSession(testkit.Session{Capacity: 2, Starts: testkit.Noon.Add(time.Hour)})
		later := studio.AddSession(testkit.Session{Capacity: 2, Starts: testkit.Noon.Add(30 * time.Hour)})
		done := importBookings(studio, request("Class,Date,Start,Email\n"+
			in(studio, class)+",ana@example.com\n"+in(studio, later)+",bo@example.com\n", false))
		must.EqOp(studio.T, 2, done.Created, must.Sprint(done.Problems))
		text := studio.Text(`select id::text from bookings where member_id = $1`, ana.Member)
		change(studio, ana, expect.Value(tenant.Parse[tenant.BookingID](text))(studio.T))
		test.EqOp(studio.T, "1: Ana", inUse(studio, done.ID))
		test.EqOp(studio.T, 1, studio.Count(`select count(*) from bookings where status = $1 and session_id = $2`,
			booking.Confirmed, later), test.Sprint("another booking was undone"))
	})
}

// A day is 24 hours, also where clocks change: those of the studio do on 29 March.
func TestUndoImport_EndsAfterADay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Clock.Set(time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC))
	first, second := ended(studio, started(studio, good, false).ID), importMembers(studio, "name\nAna\n")
	studio.Clock.Advance(24*time.Hour - time.Second)
	expect.OK(t)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, second.ID))
	studio.Clock.Advance(time.Second)
	f := expect.Reason(t, fault.ImportUndoExpired)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, first.ID))
	test.EqOp(t, "2026-03-29T20:00:00Z", f.Metadata["deadline"])
	test.EqOp(t, fileimport.Undone, ended(studio, second.ID).Status, test.Sprint("it was asked for in time"))
}

func TestUndoImport_RefusesWhatCreatedNothing(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	waiting := started(studio, good, true)
	expect.Reason(t, fault.ImportState)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, waiting.ID))
	for _, id := range []tenant.ImportID{
		ended(studio, waiting.ID).ID, ended(studio, started(studio, wrong, false).ID).ID,
	} {
		expect.Reason(t, fault.ImportState)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, id))
	}
	there := studio.OtherTenant()
	theirs := ended(there, started(there, good, false).ID)
	expect.Reason(t, fault.ImportNotFound)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, theirs.ID))
}

// What is used after the answer, and before a node has undone it, stays with all else.
func TestUndoImport_RefusesWhatIsUsedMeanwhile(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	done := importMembers(studio, "name,email\nAna,ana@example.com\nBo,bo@example.com\n")
	expect.OK(t)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, done.ID))
	studio.Exec(`update members set sign_in_email = email where email = 'bo@example.com'`)
	got := ended(studio, done.ID)
	test.EqOp(t, fileimport.Succeeded, got.Status)
	must.NotNil(t, got.Undo.Problem)
	test.EqOp(t, fault.ImportInUse, got.Undo.Problem.Reason)
	test.StrContains(t, got.Undo.Problem.Message, "such as Bo")
	test.EqOp(t, "", got.Undo.Actor)
	test.EqOp(t, 2, studio.Count(`select count(*) from members where status = 'ACTIVE' and name in ('Ana', 'Bo')`))
	studio.Exec(`update members set sign_in_email = '' where email = 'bo@example.com'`)
	test.EqOp(t, fileimport.Undone, undone(studio, done.ID).Status)
}

// A node that stopped in the middle leaves it to another. Two that undo it at once do so once.
func TestUndoImport_GoesOnAfterANodeStopped(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	done := importMembers(studio, "name,email\nAna,ana@example.com\n")
	expect.OK(t)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, done.ID))
	studio.Exec(`update imports set attempts = 1, due_at = $1`, testkit.Noon.Add(fileimport.Lease))
	test.EqOp(t, fileimport.Undoing, ended(studio, done.ID).Status)
	studio.Clock.Advance(fileimport.Lease)
	errs := make(chan error)
	for _, node := range []*testkit.Studio{studio, studio.OtherNode()} {
		go func() { errs <- node.App.Imports.RunDue(t.Context(), studio.Tenant) }()
	}
	must.NoError(t, <-errs)
	must.NoError(t, <-errs)
	got := ended(studio, done.ID)
	test.EqOp(t, fileimport.Undone, got.Status)
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where action = 'import.reversed'`))
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where action = 'import.undo_started'`))
}

func TestUndoImport_GivesUpAfterManyAttempts(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	done := importMembers(studio, "name\nAna\n")
	expect.OK(t)(studio.App.Imports.UndoImport(t.Context(), studio.Owner, done.ID))
	studio.Exec(`update imports set attempts = 10`)
	got := ended(studio, done.ID)
	test.EqOp(t, fileimport.Succeeded, got.Status)
	test.EqOp(t, fault.InternalError, got.Undo.Problem.Reason)
	test.EqOp(t, 1, got.Created)
}

// Plans of one's own are for others to undo.
func TestUndoImport_OfOnesOwnPlansIsForOthers(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	admin := studio.AddPerson("Adam", tenant.RoleAdmin)
	studio.Exec(`update members set email = 'adam@example.com' where id = $1`, admin.Member)
	done := importPlans(studio, studio.Owner, request("email,plan,balance\nadam@example.com,Ten,7\n", false))
	must.EqOp(t, 1, done.Created, must.Sprint(done.Problems))
	expect.OK(t)(studio.App.Imports.UndoImport(t.Context(), admin, done.ID))
	got := ended(studio, done.ID)
	test.EqOp(t, fileimport.Succeeded, got.Status)
	test.EqOp(t, fault.PermissionDeniedReason, got.Undo.Problem.Reason)
	test.EqOp(t, 7, studio.Count(`select sum(balance) from subscriptions`))
}

func TestUndoImport_OfManyBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const rows, each = 600, 50
	members, bookings := "name,email\n", "Class,Date,Start,Email\n"
	var class string
	for i := range rows {
		if i%each == 0 {
			starts := testkit.Noon.Add(time.Duration(i/each+1) * time.Hour)
			class = in(studio, studio.AddSession(testkit.Session{Capacity: each, Starts: starts}))
		}
		members += fmt.Sprintf("Member %d,m%d@example.com\n", i, i)
		bookings += fmt.Sprintf("%s,m%d@example.com\n", class, i)
	}
	people := importMembers(studio, members)
	done := importBookings(studio, request(bookings, false))
	must.EqOp(t, rows, done.Created)
	test.EqOp(t, "600: Member 0, Member 1, Member 2, Member 3, Member 4", inUse(studio, people.ID))
	test.EqOp(t, fileimport.Undone, undone(studio, done.ID).Status)
	test.EqOp(t, 0, studio.Count(`select sum(seats_taken) from sessions`))
	test.EqOp(t, fileimport.Undone, undone(studio, people.ID).Status)
	studio.WantSound()
}

func invitees(of []member.Member) []accounts.Invitee {
	return pg.Array(of, func(m member.Member) accounts.Invitee { return accounts.Invitee{Member: m.ID} })
}

func freeCancellation(p *catalog.PolicyLayer) { p.CancellationWindow = new(time.Duration(0)) }

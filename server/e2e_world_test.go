package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// world is a tenant with one object of each kind, created by use cases. All worlds have people with the same subjects.
// All other strings are unique.
type world struct {
	t      *testing.T
	live   *liveNode
	app    *app.Services
	before *app.Services // three hours ago
	now    time.Time

	ID tenant.TenantID
	// The people. Their subjects are the names of their roles; partner is a service account.
	owner, admin, coach, member tenant.Caller
	partner                     string
	other                       tenant.Caller // one more member

	location tenant.LocationID
	service  tenant.ServiceID
	plan     credit.Plan // credits, overlaps allowed
	credits  tenant.SubscriptionID
	workout  tenant.WorkoutID
	role     string // a tenant's role without permissions
	batch    tenant.BatchID

	slots *atomic.Int64
}

// in returns the world for a subtest.
func (w world) in(t *testing.T) *world {
	w.t = t
	return &w
}

// serial makes strings unique over all worlds.
var serial atomic.Int64

// withoutRaceDetector skips sweeps that make thousands of calls, one after the other, if this was built with the race
// detector: each call costs up to twelve times as much then, and finds no more. make test-sweeps runs them without it,
// and the recordings run every RPC with it.
func withoutRaceDetector(t *testing.T) {
	t.Helper()
	if info, ok := debug.ReadBuildInfo(); ok &&
		slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("run make test-sweeps")
	}
}

// unique returns a unique string for a name, a role or an email address.
func unique() string { return fmt.Sprintf("n%06d", serial.Add(1)) }

// slotLength is the maximum length of the world's sessions.
const slotLength = 15 * time.Minute

func newWorld(t *testing.T, live *liveNode) *world {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	w := &world{
		t: t, live: live, now: now, app: live.App, slots: new(atomic.Int64),
		before: app.New(app.Config{
			DB: live.Node.DB, Now: func() time.Time { return now.Add(-3 * time.Hour) }, Committed: live.Relay.NotifyCommit,
			RolesChanged: live.Guard.Invalidate, Seals: live.Seals,
		}),
	}
	created := expect.Value(w.app.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
		Name: unique(), TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR",
		Owner: &accounts.FirstOwner{Subject: tenant.RoleOwner, Name: unique(), Email: unique() + "@example.com"},
	}))(w.t)
	w.ID = created.ID
	members := expect.Value(w.app.Accounts.ListMembers(t.Context(), tenant.System(w.ID), member.Search{Limit: 1}))(w.t)
	w.owner = tenant.Caller{
		Tenant: w.ID, Subject: tenant.RoleOwner, Member: members[0].ID, Roles: []string{tenant.RoleOwner},
		May: grant.PermissionsOf(tenant.RoleOwner),
	}
	w.admin = w.person(tenant.RoleAdmin, tenant.RoleAdmin)
	w.coach = w.person(tenant.RoleCoach, tenant.RoleCoach)
	w.member = w.person(tenant.RoleMember)
	w.other = w.person("other")

	w.role = w.newRole()
	w.person("gardener", w.role)
	expect.OK(w.t)(w.app.Accounts.RevokeRole(w.ctx(), w.owner, w.person("idler").Member, tenant.RoleMember))
	left := w.person("left")
	expect.OK(w.t)(w.app.Accounts.DeactivateMember(w.ctx(), w.owner, left.Member))
	account, _, err := w.app.Accounts.CreateServiceAccount(
		w.ctx(), w.owner, grant.ServiceAccount{Name: unique(), Roles: []string{tenant.RolePartner}},
	)
	w.ok(err)
	w.partner = "sa:" + account.ID.String()

	// Holds must not expire during a test.
	expect.OK(w.t)(w.app.Settings.UpdatePolicy(
		w.ctx(), w.owner, settings.PolicyTarget{}, nil, func(p *catalog.PolicyLayer) { p.HoldTTL = new(24 * time.Hour) },
	))
	w.location, w.service = w.newLocation(), w.newService()
	expect.OK(w.t)(w.app.Settings.UpdateWaitlistRules(w.ctx(), w.owner, settings.RulesEdit{Target: settings.PolicyTarget{
		Service: w.service,
	}, Edit: func(s *waitlist.Settings) {
		s.Enabled, s.MaxQueueSize = new(true), new(10_000) // the tests have many entries on a few days
	}}))
	w.plan = w.newPlan()
	w.credits = w.newSubscription(w.other)
	w.workout = w.newWorkout()
	//nolint:errcheck // it only adds another workout
	w.app.Schedules.AddInlineWorkout(w.ctx(), w.owner, w.newSession(), unique(), unique())
	done := expect.Value(
		w.app.Schedules.BulkPublishSessions(w.ctx(), w.owner, schedules.BulkRequest{
			Filter: session.Filter{Sessions: []tenant.SessionID{w.newDraft()}},
		}),
	)(w.t)
	w.batch = done.Batch
	w.newEntry(w.other)
	w.newDevice(w.other)
	w.newBooking(w.other)
	return w
}

func (w *world) ctx() context.Context { return w.t.Context() }

func (w *world) ok(err error) {
	w.t.Helper()
	must.NoError(w.t, err, must.Sprint("the world is not made"))
}

// token returns a token for the world and, if given, other worlds.
func (w *world) token(subject string, others ...*world) string {
	w.t.Helper()
	tenants := []tenant.TenantID{w.ID}
	for _, o := range others {
		tenants = append(tenants, o.ID)
	}
	return w.live.Token(w.t, subject, tenants...)
}

// person creates a member with a subject, and with roles in addition to "member".
func (w *world) person(subject string, roles ...string) tenant.Caller {
	w.t.Helper()
	m := expect.Value(w.app.Accounts.CreateMember(
		w.ctx(), w.owner, member.Member{Subject: subject, Name: unique(), Email: unique() + "@example.com"},
	))(w.t)
	for _, role := range roles {
		m.Roles = expect.Value(w.app.Accounts.AssignRole(w.ctx(), w.owner, m.ID, role))(w.t)
	}
	return tenant.Caller{
		Tenant: w.ID, Subject: subject, Member: m.ID, Roles: m.Roles, May: grant.PermissionsOf(m.Roles...),
	}
}

// newContactCode lets the owner enter a new email address, and returns the code that it gets.
func (w *world) newContactCode() string {
	w.t.Helper()
	w.forgetCodes()
	address := unique() + "@example.com"
	expect.OK(w.t)(w.app.Accounts.UpdateMe(w.ctx(), w.owner, nil, func(m *member.Member) error {
		m.Email = address
		return nil
	}))
	var sealed []byte
	w.ok(w.live.DB.Owner.QueryRow(w.ctx(), `
select decode(details->>'sealed', 'base64') from notices where tenant_id = $1 and details->>'to' = $2`,
		w.ID, address).Scan(&sealed))
	keys := boot.KeyConfig{Data: w.live.data}
	secrets := expect.Value(keys.OpenSecrets(w.ctx(), keys.Files()))(w.t)
	return string(expect.Value(secrets.Seals.Open(w.ID, sealed))(w.t))
}

// invite asks for an invitation.
func invite(whom *v1.InvitationInput) *v1.BatchCreateInvitationsRequest {
	return &v1.BatchCreateInvitationsRequest{Invitations: []*v1.InvitationInput{whom}}
}

// newInvitation invites a new member.
func (w *world) newInvitation() member.Invited {
	w.t.Helper()
	w.forgetInvitations()
	made := expect.Value(w.app.Accounts.CreateInvitations(w.ctx(), w.owner, []accounts.Invitee{
		{New: memberWithoutSubject()},
	}))(w.t)[0]
	w.forgetMails()
	return made
}

// forgetInvitations lets more than so many leave in a day.
func (w *world) forgetInvitations() {
	w.t.Helper()
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(),
		`update invitations set sent_at = created_at - interval '2 days' where tenant_id = $1`, w.ID))
}

// forgetMails deletes the platform's mails. The node would go on trying to send them, which changes rows.
func (w *world) forgetMails() {
	w.t.Helper()
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(), `delete from platform_mails where tenant_id = $1`, w.ID))
}

// invitationOfOwner invites the owner, and returns the last part of the link, as the mail has it.
func (w *world) invitationOfOwner() string {
	w.t.Helper()
	w.forgetInvitations()
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(),
		`update members set email = $3, sign_in_email = '' where tenant_id = $1 and id = $2`,
		w.ID, w.owner.Member, unique()+"@example.com"))
	made := expect.Value(w.app.Accounts.CreateInvitations(w.ctx(), w.owner, []accounts.Invitee{
		{Member: w.owner.Member},
	}))(w.t)[0]
	w.forgetMails()
	return w.live.Seals.Sign(w.ID, "invitation", made.ID.UUID[:])
}

// forgetCodes lets members ask for as many codes as they did in the last day.
func (w *world) forgetCodes() {
	w.t.Helper()
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(), `delete from contact_codes where tenant_id = $1`, w.ID))
}

// confirmContacts lets all send test messages to themselves.
func (w *world) confirmContacts() {
	w.t.Helper()
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(), `
update members set confirmed_email = email, confirmed_phone = phone where tenant_id = $1`, w.ID))
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(), `
delete from deliveries where tenant_id = $1 and notice_id is null and booking_id is null`, w.ID))
}

func (w *world) newMember() tenant.Caller {
	w.t.Helper()
	return w.person(unique())
}

func (w *world) newCoach() tenant.MemberID {
	w.t.Helper()
	return w.person(unique(), tenant.RoleCoach).Member
}

func (w *world) newRole() string {
	w.t.Helper()
	return expect.Value(w.app.Accounts.CreateRole(w.ctx(), w.owner, grant.Role{Name: unique(), Title: unique()}))(w.t).Name
}

// newTransfer creates a transfer of another owner's ownership to the owner.
func (w *world) newTransfer() tenant.TransferID {
	w.t.Helper()
	sender := w.person(unique(), tenant.RoleOwner)
	return expect.Value(w.app.Accounts.TransferOwnership(w.ctx(), sender, w.owner.Member))(w.t).ID
}

// newPasskey adds a passkey of a member, with which nobody can sign in.
func (w *world) newPasskey(of tenant.MemberID) tenant.PasskeyID {
	w.t.Helper()
	return expect.Value(engine.Transact(w.ctx(), w.app.Engine, w.owner, engine.Transaction{Name: "test"},
		func(ctx context.Context, tx *engine.Tx) (tenant.PasskeyID, error) {
			id := tenant.NextID[tenant.PasskeyID](tx.IDs)
			accountdb.InsertPasskey(tx.Tx, tx.Tenant, signin.Passkey{
				ID: id, Member: of, CredentialID: id.UUID[:], Credential: []byte("{}"), Name: "Firefox",
				CreatedAt: tx.Now, UsedAt: tx.Now, AskedAt: tx.Now,
			})
			return id, ctx.Err()
		}))(w.t)
}

// newSignIn signs a browser in as a member.
func (w *world) newSignIn(as tenant.MemberID) tenant.SignInID {
	w.t.Helper()
	in := expect.Value(engine.Transact(w.ctx(), w.app.Engine, w.owner, engine.Transaction{Name: "test"},
		func(ctx context.Context, tx *engine.Tx) (signin.SignIn, error) {
			return signins.Start(tx, signins.NewSecret(tx.Tenant), as, signin.ByCode), ctx.Err()
		}))(w.t)
	return in.ID
}

func (w *world) newAccount() tenant.ServiceAccountID {
	w.t.Helper()
	id, _ := w.newKey()
	return id
}

func (w *world) newKey() (tenant.ServiceAccountID, string) {
	w.t.Helper()
	account, key, err := w.app.Accounts.CreateServiceAccount(
		w.ctx(), w.owner, grant.ServiceAccount{Name: unique(), Roles: []string{tenant.RolePartner}},
	)
	w.ok(err)
	return account.ID, key
}

func (w *world) newLocation() tenant.LocationID {
	w.t.Helper()
	return expect.Value(w.app.Catalog.CreateLocation(w.ctx(), w.owner, catalog.Location{
		Name: unique(), TimeZone: "Europe/Berlin", Point: &catalog.Point{Latitude: 52.5, Longitude: 13.4},
		Channels: catalog.Channels(), Active: true,
	}))(w.t).ID
}

func (w *world) newRoom() tenant.ResourceID {
	w.t.Helper()
	return expect.Value(w.app.Catalog.CreateResource(
		w.ctx(), w.owner, catalog.Resource{Location: w.location, Name: unique(), Active: true},
	))(w.t).ID
}

func (w *world) newService() tenant.ServiceID {
	w.t.Helper()
	return expect.Value(w.app.Catalog.CreateService(w.ctx(), w.owner, catalog.Service{
		Name: unique(), Duration: slotLength, DefaultCapacity: new(10), DefaultWaitlistCapacity: 5, MinParty: 1, MaxParty: 4,
		Delivery: catalog.InPerson, Active: true,
	}))(w.t).ID
}

func (w *world) newPlan() credit.Plan {
	w.t.Helper()
	return expect.Value(w.app.Catalog.CreatePlan(w.ctx(), w.owner, credit.Plan{
		Name: unique(), Kind: credit.Credits, Credits: 1000, AllowOverlap: true, Active: true,
	}))(w.t)
}

func (w *world) newSubscription(caller tenant.Caller) tenant.SubscriptionID {
	w.t.Helper()
	return expect.Value(w.app.Accounts.CreateSubscription(
		w.ctx(), w.owner, accounts.NewSubscription{Member: caller.Member, Plan: w.plan.ID},
	))(w.t).ID
}

// newSlot returns an unused time, tomorrow or later.
func (w *world) newSlot() time.Time {
	return w.now.Add(26*time.Hour + time.Duration(w.slots.Add(1))*(slotLength+time.Minute))
}

func (w *world) sessionAt(at time.Time, change ...func(*session.Input)) session.Input {
	in := session.Input{Service: w.service, Location: w.location, StartsAt: at, Title: unique()}
	for _, f := range change {
		f(&in)
	}
	return in
}

func (w *world) createSession(a *app.Services, in session.Input, publish bool) tenant.SessionID {
	w.t.Helper()
	return expect.Value(a.Schedules.CreateSession(w.ctx(), w.owner, in, publish))(w.t).ID
}

func (w *world) newSession(change ...func(*session.Input)) tenant.SessionID {
	w.t.Helper()
	return w.createSession(w.app, w.sessionAt(w.newSlot(), change...), true)
}

func (w *world) newDraft() tenant.SessionID {
	w.t.Helper()
	return w.createSession(w.app, w.sessionAt(w.newSlot()), false)
}

// newOpenSession creates a session that is open for check-in now.
func (w *world) newOpenSession() tenant.SessionID {
	w.t.Helper()
	return w.createSession(w.app, w.sessionAt(w.now.Add(30*time.Minute)), true)
}

func (w *world) book(a *app.Services, caller tenant.Caller, in tenant.SessionID) seats.Result {
	w.t.Helper()
	return expect.Value(
		a.Bookings.Book(w.ctx(), caller, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online}),
	)(w.t)
}

func (w *world) newBooking(caller tenant.Caller) tenant.BookingID {
	w.t.Helper()
	return w.book(w.app, caller, w.newSession()).Booking.ID
}

// newPaidBooking creates a booking that was paid with fifty euros, beyond what the member's plan paid.
func (w *world) newPaidBooking() tenant.BookingID {
	w.t.Helper()
	id := w.newBooking(w.other)
	paid := payment.Facts{Kind: payment.Capture, Amount: credit.Money{Currency: "EUR", Units: 50}}
	expect.OK(w.t)(w.app.Bookings.RecordPayment(w.ctx(), w.owner, id, paid, true))
	return id
}

// newArrival creates a booking that can be checked in now.
func (w *world) newArrival(caller tenant.Caller) (tenant.SessionID, tenant.BookingID) {
	w.t.Helper()
	in := w.newOpenSession()
	return in, w.book(w.app, caller, in).Booking.ID
}

// newPastBooking creates a booking of a session that has ended.
func (w *world) newPastBooking(caller tenant.Caller) tenant.BookingID {
	w.t.Helper()
	return w.book(w.before, caller, w.createSession(w.before, w.sessionAt(w.now.Add(-2*time.Hour)), true)).Booking.ID
}

// newAbsences returns a new member who missed two sessions.
func (w *world) newAbsences() tenant.Caller {
	w.t.Helper()
	who := w.newMember()
	for range 2 {
		expect.OK(w.t)(w.app.Bookings.MarkNoShow(w.ctx(), w.owner, w.newPastBooking(who)))
	}
	return who
}

// newEntry creates a waitlist entry for a full session.
func (w *world) newEntry(caller tenant.Caller) tenant.EntryID {
	w.t.Helper()
	in := w.newSession(func(in *session.Input) { in.Capacity = new(1) })
	w.book(w.app, w.coach, in)
	return w.book(w.app, caller, in).Entry.ID
}

func (w *world) newDevice(caller tenant.Caller) tenant.DeviceID {
	w.t.Helper()
	return expect.Value(w.app.Accounts.RegisterDevice(w.ctx(), caller, member.IOS, unique()))(w.t).ID
}

func (w *world) newWorkout() tenant.WorkoutID {
	w.t.Helper()
	return expect.Value(w.app.Schedules.CreateWorkout(w.ctx(), w.owner, unique(), unique()))(w.t).ID
}

// newImport checks a file without rows, and ends at once.
func (w *world) newImport() tenant.ImportID {
	w.t.Helper()
	started := expect.Value(w.app.Imports.ImportSessions(
		w.ctx(), w.owner, imports.Request{File: []byte("service,location,date,start,end\n"), DryRun: true}, true))(w.t)
	w.ok(w.app.Imports.RunDue(w.ctx(), w.ID))
	return started.ID
}

// importMembers imports a member, and returns once that is done: the node may run the import as well.
func (w *world) importMembers() tenant.ImportID {
	w.t.Helper()
	started := expect.Value(w.app.Imports.ImportMembers(
		w.ctx(), w.owner, imports.Request{File: []byte("name\n" + unique() + "\n")}))(w.t)
	w.ok(w.app.Imports.RunDue(w.ctx(), w.ID))
	eventually(w.t, "the import is done", func() bool {
		now := expect.Value(w.app.Imports.GetImport(w.ctx(), w.owner, started.ID, false))(w.t)
		return now.Status == fileimport.Succeeded
	})
	return started.ID
}

// newSeries creates a series of two sessions, with their own room and coach.
func (w *world) newSeries(publish bool) (session.Series, tenant.SessionID) {
	w.t.Helper()
	berlin := expect.Value(time.LoadLocation("Europe/Berlin"))(w.t)
	starts := w.newSlot().In(berlin)
	in := w.sessionAt(time.Time{})
	in.Resource, in.Coach = w.newRoom(), w.newCoach()
	created, sessions, err := w.app.Schedules.CreateSeries(w.ctx(), w.owner, schedules.SeriesInput{
		Template: in, Publish: publish,
		Pattern: session.Pattern{
			Rule: "FREQ=DAILY;COUNT=2", Date: civil.DateOf(starts, berlin),
			Time: civil.TimeOfDay{Hour: starts.Hour(), Minute: starts.Minute()},
		},
	})
	w.ok(err)
	return created, sessions[0]
}

// newEvent makes a booking and returns a filter for its event, once the event is visible: transactions of other tests
// can delay it.
func (w *world) newEvent() *v1.EventFilter {
	w.t.Helper()
	b := w.book(w.app, w.newMember(), w.newSession()).Booking
	eventually(w.t, "the event can be read", func() bool {
		page := expect.Value(w.app.Events.ListEvents(
			w.ctx(), testkit.ReaderOfAll(w.owner),
			events.EventQuery{Filter: events.EventFilter{Booking: b.ID}, Backwards: true, Limit: 1},
		))(w.t)
		return len(page.Events) == 1
	})
	return &v1.EventFilter{
		Types:     []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED},
		SessionId: text(b.Session), BookingId: text(b.ID), MemberId: text(b.Member), LocationId: text(w.location),
	}
}

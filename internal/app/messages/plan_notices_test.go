package messages_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// What each act leads to, from the use case to the provider.
func TestPlanNotices_ForEachUseCase(t *testing.T) {
	t.Parallel()
	want := func(t testing.TB, what string, got []string, want ...string) {
		t.Helper()
		test.Eq(t, want, got, test.Sprint(what))
	}
	full := func(in *session.Input) { in.Capacity = new(1) }
	start := testkit.Noon.Add(48 * time.Hour)

	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"book, confirmed": func(studio *messagetest.Studio) {
			studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(start))
			want(studio.T, "at once", studio.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
			want(studio.T, "a second look", studio.Run())
			want(studio.T, "a day before", studio.RunAt(start.Add(-24*time.Hour)), "REMINDER PUSH")
			want(studio.T, "when check-in opens", studio.RunAt(start.Add(-time.Hour)), "CHECK_IN_OPEN PUSH")
			want(studio.T, "a minute before the reminder", studio.RunAt(start.Add(-31*time.Minute)))
			want(studio.T, "30 minutes before", studio.RunAt(start.Add(-30*time.Minute)), "REMINDER PUSH")
			want(studio.T, "at the start", studio.RunAt(start))
		},
		"check-in opens when the policy says": func(studio *messagetest.Studio) {
			studio.SetPolicy(func(p *catalog.PolicyLayer) { p.CheckInOpensBefore = new(20 * time.Minute) })
			studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(start))
			studio.Run()
			studio.RunAt(start.Add(-20*time.Minute - time.Second))
			want(studio.T, "20 minutes before", studio.RunAt(start.Add(-20*time.Minute)), "CHECK_IN_OPEN PUSH")
		},
		"book, opted out of email": func(studio *messagetest.Studio) {
			mia := studio.AddReachable("Mia")
			expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(
				studio.T.Context(), mia, messages.PreferencesEdit{
					Chosen: map[choice]bool{{Topic: confirmed, Channel: email}: false},
				},
			))
			studio.MustPlace(mia, studio.SessionAt(start))
			want(studio.T, "at once", studio.Run(), "BOOKING_CONFIRMED PUSH")
		},
		"book, opted out of reminders": func(studio *messagetest.Studio) {
			mia := studio.AddReachable("Mia")
			expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(studio.T.Context(), mia,
				messages.PreferencesEdit{Chosen: map[choice]bool{
					{Topic: notify.Reminder, Channel: push}: false, {Topic: notify.Reminder, Channel: email}: false,
				}}))
			studio.MustPlace(mia, studio.SessionAt(start))
			want(studio.T, "at once", studio.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
			want(studio.T, "a day before", studio.RunAt(start.Add(-24*time.Hour)))
			want(
				studio.T, "30 minutes before: check-in is open, that is all", studio.RunAt(start.Add(-30*time.Minute)),
				"CHECK_IN_OPEN PUSH",
			)
		},
		"book, waitlisted: a mail alone; promoted by a self-cancel": func(studio *messagetest.Studio) {
			studio.SetPromoting()
			mia, noa := studio.AddReachable("Mia"), studio.AddReachable("Noa")
			class := studio.SessionAt(start, full)
			first := studio.MustPlace(mia, class).Booking.ID
			studio.MustPlace(noa, class)
			want(studio.T, "at once", studio.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH", "WAITLISTED EMAIL")
			expect.OK(studio.T)(
				studio.App.Bookings.CancelBooking(studio.T.Context(), mia, bookings.CancelRequest{ID: first, Notify: true}),
			)
			want(
				studio.T, "the one is out, the other in", studio.Run(),
				"BOOKING_CANCELLED EMAIL", "PROMOTED EMAIL", "PROMOTED PUSH",
			)
			want(studio.T, "reminded are those who come", studio.RunAt(start.Add(-24*time.Hour)), "REMINDER PUSH")
		},
		"admin-cancel": func(studio *messagetest.Studio) {
			booking := studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(start)).Booking.ID
			studio.Run()
			expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
				studio.T.Context(), studio.Owner, bookings.CancelRequest{
					ID: booking, OverrideWindow: true, Reason: "Coach is ill.", Notify: true,
				},
			))
			studio.Plan()
			studio.Send()
			sent := studio.Provider.Take()
			must.SliceLen(studio.T, 1, sent)
			test.True(studio.T, contains(sent[0].Text, "Coach is ill."), test.Sprintf("%+v", sent))
			must.NotNil(studio.T, sent[0].Calendar)
			test.EqOp(studio.T, "CANCEL", sent[0].Calendar.Method)
		},
		"admin-cancel: the next one is in": func(studio *messagetest.Studio) {
			studio.SetPromoting()
			class := studio.SessionAt(start, full)
			booking := studio.MustPlace(studio.AddReachable("Mia"), class).Booking.ID
			studio.MustPlace(studio.AddReachable("Noa"), class)
			studio.Run()
			expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
				studio.T.Context(), studio.Owner, bookings.CancelRequest{ID: booking, OverrideWindow: true, Notify: true},
			))
			want(studio.T, "at once", studio.Run(), "BOOKING_CANCELLED EMAIL", "PROMOTED EMAIL", "PROMOTED PUSH")
		},
	})
	for name, c := range map[string]struct {
		at    time.Time
		admin bool
		says  string
	}{
		"self-cancel, in time":  {testkit.Noon, false, "Your credit is back"},
		"self-cancel, late":     {start.Add(-time.Hour), false, "the credit is used"},
		"admin-cancel, in time": {testkit.Noon, true, "Your credit is back"},
		"admin-cancel, late":    {start.Add(-time.Hour), true, "the credit is used"},
	} {
		t.Run(name+": the mail says what became of the credit", func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t)
			expect.OK(studio.T)(studio.App.Settings.UpdatePolicy(
				studio.T.Context(), studio.Owner, settings.PolicyTarget{}, nil,
				func(p *catalog.PolicyLayer) { p.AllowLateCancellation = new(true) },
			))
			plan := expect.Value(studio.App.Catalog.CreatePlan(
				studio.T.Context(), studio.Owner, credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10, Active: true},
			))(studio.T)
			mia := studio.AddReachable("Mia")
			expect.OK(studio.T)(studio.App.Accounts.CreateSubscription(
				studio.T.Context(), studio.Owner, accounts.NewSubscription{Member: mia.Member, Plan: plan.ID},
			))
			booking := studio.MustPlace(mia, studio.SessionAt(start)).Booking.ID
			studio.Run()
			studio.RunAt(c.at)
			by := mia
			if c.admin {
				by = studio.Owner
			}
			expect.OK(studio.T)(studio.App.Bookings.CancelBooking(studio.T.Context(), by, bookings.CancelRequest{
				ID: booking, OverrideWindow: c.admin, Notify: true,
			}))
			studio.Plan()
			studio.Send()
			sent := studio.Provider.Take()
			must.SliceLen(t, 1, sent)
			test.EqOp(t, email, sent[0].Channel)
			test.True(t, contains(sent[0].Text, c.says), test.Sprintf("%+v", sent))
		})
	}
	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"session cancel: the time on the recipient's clock": func(studio *messagetest.Studio) {
			mia, noa := studio.AddReachable("Mia"), studio.AddReachable("Noa")
			livesIn(studio, noa, "America/New_York")
			class := studio.SessionAt(start)
			studio.MustPlace(mia, class)
			studio.MustPlace(noa, class)
			studio.Run()
			expect.OK(studio.T)(studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, schedules.Removal{
				Notify: true,
			}))
			studio.Plan()
			studio.Send()
			for _, m := range studio.Provider.Take() {
				clock := map[string]string{"mia@example.com": "13:00", "noa@example.com": "08:00 (EDT)"}[m.To]
				test.True(studio.T, m.HighPriority, test.Sprintf("%s: %s", m.To, m.Text))
				if m.Channel == email {
					test.True(studio.T, contains(m.Text, clock), test.Sprintf("%s: %s", m.To, m.Text))
					must.NotNil(studio.T, m.Calendar, must.Sprintf("%s: %s", m.To, m.Text))
					test.EqOp(studio.T, "CANCEL", m.Calendar.Method, test.Sprint(m.To))
				}
			}
		},
		"admin-cancel in silence": func(studio *messagetest.Studio) {
			booking := studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(start)).Booking.ID
			studio.Run()
			expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
				studio.T.Context(), studio.Owner, bookings.CancelRequest{ID: booking, OverrideWindow: true, Notify: false},
			))
			want(studio.T, "nothing", studio.Run())
		},
		"session cancel: everyone, on the waitlist too": func(studio *messagetest.Studio) {
			class := studio.SessionAt(start, full)
			studio.MustPlace(studio.AddReachable("Mia"), class)
			studio.MustPlace(studio.AddReachable("Noa"), class)
			studio.Run()
			expect.OK(studio.T)(
				studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, schedules.Removal{
					Reason: "Closed for repairs.", Notify: true,
				}),
			)
			want(
				studio.T, "at once", studio.Run(), "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED PUSH",
				"SESSION_CANCELLED PUSH",
			)
			want(studio.T, "no reminder", studio.RunAt(start.Add(-24*time.Hour)))
		},
	})
	for _, notify := range []bool{true, false} {
		t.Run("bulk-delete", func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t)
			class, other := studio.SessionAt(start), studio.SessionAt(start.Add(2*time.Hour))
			mia, noa := studio.AddReachable("Mia"), studio.AddReachable("Noa")
			studio.MustPlace(mia, class)
			studio.MustPlace(mia, other)
			queue := studio.SessionAt(start.Add(4*time.Hour), full)
			studio.MustPlace(mia, queue)
			studio.MustPlace(noa, queue)
			studio.Run()
			expect.OK(studio.T)(studio.App.Schedules.BulkDeleteSessions(studio.T.Context(), studio.Owner, schedules.BulkRequest{
				Filter: session.Filter{Sessions: []tenant.SessionID{class, other, queue}}, IncludeBooked: true,
				Reason: "Renovation", Notify: notify,
			}))
			if notify { // who waits is told, too
				want(t, "for each session", studio.Run(), "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL",
					"SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL",
					"SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH")
			} else {
				want(t, "in silence", studio.Run())
			}
			test.EqOp(t, 3, studio.Count(`select count(*) from sessions where deleted_at is not null`),
				test.Sprint("sessions are deleted"))
			test.EqOp(t, 0, studio.Count(`select count(*) from bookings where status <> 'CANCELLED'`),
				test.Sprint("bookings stand"))
			test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where action = 'session.bulk_deleted'`),
				test.Sprint("entries of the audit log"))
			want(t, "no reminder", studio.RunAt(start.Add(-24*time.Hour)))
		})
	}
	door := &catalog.Point{Latitude: 52.5, Longitude: 13.4}
	for method, proof := range map[string]func(*messagetest.Studio, tenant.SessionID) bookings.CheckInProof{
		"QR": func(studio *messagetest.Studio, class tenant.SessionID) bookings.CheckInProof {
			return bookings.CheckInProof{QR: expect.Value(
				studio.App.Bookings.GetQRToken(studio.T.Context(), studio.Owner, class),
			)(studio.T).Text}
		},
		"GPS": func(*messagetest.Studio, tenant.SessionID) bookings.CheckInProof {
			return bookings.CheckInProof{Position: &checkin.Position{Point: checkin.Point(*door)}}
		},
	} {
		t.Run("check-in by themselves, by "+method+": nothing", func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t)
			expect.OK(studio.T)(studio.App.Catalog.UpdateLocation(
				studio.T.Context(), studio.Owner, studio.Location, nil, func(l *catalog.Location) { l.Point = door },
			))
			soon := testkit.Noon.Add(40 * time.Minute)
			mia, class := studio.AddReachable("Mia"), studio.SessionAt(soon)
			studio.MustPlace(mia, class)
			studio.Run()
			b := expect.Value(
				studio.App.Bookings.SelfCheckIn(studio.T.Context(), mia, class, proof(studio, class)),
			)(studio.T).Booking
			test.EqOp(t, booking.Attended, b.Status)
			must.NotNil(t, b.CheckedInAt)
			test.True(t, b.CheckedInAt.Equal(testkit.Noon), test.Sprintf("%+v", b))
			test.EqOp(t, method, b.CheckInMethod)
			want(t, "checked in", studio.Run())
			want(t, "a member who has arrived is not reminded", studio.RunAt(soon.Add(-30*time.Minute)))
		})
	}
	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"check-in by staff and its undo: nothing": func(studio *messagetest.Studio) {
			soon := testkit.Noon.Add(40 * time.Minute)
			id := studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(soon)).Booking.ID
			studio.Run()
			b := expect.Value(studio.App.Bookings.CheckIn(studio.T.Context(), studio.Owner, id))(studio.T).Booking
			test.EqOp(studio.T, booking.Attended, b.Status)
			must.NotNil(studio.T, b.CheckedInAt)
			test.True(studio.T, b.CheckedInAt.Equal(testkit.Noon), test.Sprintf("%+v", b))
			test.EqOp(studio.T, "MANUAL", b.CheckInMethod)
			want(studio.T, "checked in", studio.Run())
			want(studio.T, "a member who has arrived is not reminded", studio.RunAt(soon.Add(-30*time.Minute)))
			undone := expect.Value(studio.App.Bookings.UndoCheckIn(studio.T.Context(), studio.Owner, id))(studio.T)
			test.EqOp(studio.T, booking.Confirmed, undone.Status)
			must.Nil(studio.T, undone.CheckedInAt)
			test.EqOp(studio.T, "", undone.CheckInMethod)
			want(studio.T, "undone", studio.Run())
		},
		"moved: told, the calendar entry moves, reminders too": func(studio *messagetest.Studio) {
			class := studio.SessionAt(start)
			studio.MustPlace(studio.AddReachable("Mia"), class)
			studio.Run()
			later := start.Add(3 * time.Hour)
			studio.Clock.Set(testkit.Noon.Add(time.Minute))
			studio.EditSession(class, session.Input{Title: "Yin"}, session.TitleField)
			want(studio.T, "another title", studio.Run())
			expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
				studio.T.Context(), studio.Owner, class, nil, session.Input{
					StartsAt: later, EndsAt: later.Add(time.Hour),
				}, session.TimeFields,
			))
			studio.Plan()
			studio.Send()
			sent := studio.Provider.Take()
			must.EqOp(studio.T, 2, len(sent), must.Sprintf("%d messages", len(sent)))
			for _, m := range sent {
				test.False(
					studio.T, m.Channel == email &&
						(m.Calendar == nil || !contains(string(m.Calendar.Body), "SEQUENCE:600") || !contains(m.Text, "16:00") ||
							!contains(m.Text, "It was on Wed 18 Mar, 13:00.")),
					test.Sprintf("%s\n%v", m.Text, m.Calendar),
				)
			}
			want(studio.T, "not at the old time", studio.RunAt(start.Add(-24*time.Hour)))
			want(studio.T, "but at the new", studio.RunAt(later.Add(-24*time.Hour)), "REMINDER PUSH")
		},
		"another end, room and place: told each time": func(studio *messagetest.Studio) {
			pier := studio.AddLocation(catalog.Location{Name: "Pier 2"})
			in := session.Input{
				Location: pier, Resource: studio.AddResource(catalog.Resource{Name: "Hall", Location: pier}),
				StartsAt: start, EndsAt: start.Add(2 * time.Hour),
			}
			class := studio.SessionAt(start)
			studio.MustPlace(studio.AddReachable("Mia"), class)
			studio.Run()
			for _, field := range []session.Fields{session.EndField, session.LocationField, session.ResourceField} {
				studio.EditSession(class, in, field)
				want(studio.T, "at once", studio.Run(), "RESCHEDULED EMAIL", "RESCHEDULED PUSH")
			}
		},
		"rescheduled": func(studio *messagetest.Studio) {
			booking := studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(start)).Booking.ID
			studio.Run()
			expect.OK(studio.T)(studio.App.Bookings.RescheduleBooking(
				studio.T.Context(), studio.Owner,
				bookings.RescheduleRequest{ID: booking, To: studio.SessionAt(start.Add(24 * time.Hour)), Notify: true},
			))
			sent := mails(studio)
			must.SliceLen(studio.T, 1, sent)
			test.StrContains(studio.T, sent[0].Text, "It was on Wed 18 Mar, 13:00.")
			want(studio.T, "not at the old time", studio.RunAt(start.Add(-24*time.Hour)))
			want(studio.T, "but at the new", studio.RunAt(start), "REMINDER PUSH")
		},
		"rescheduled, in silence": func(studio *messagetest.Studio) {
			booking := studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(start)).Booking.ID
			studio.Run()
			expect.OK(studio.T)(studio.App.Bookings.RescheduleBooking(
				studio.T.Context(), studio.Owner,
				bookings.RescheduleRequest{ID: booking, To: studio.SessionAt(start.Add(24 * time.Hour)), Notify: false},
			))
			want(studio.T, "at once", studio.Run())
			want(studio.T, "not at the old time", studio.RunAt(start.Add(-24*time.Hour)))
			want(studio.T, "reminded at the new, all the same", studio.RunAt(start), "REMINDER PUSH")
		},
		"a device that was not seen for 60 days is forgotten": func(studio *messagetest.Studio) {
			mia := studio.AddReachable("Mia")
			studio.Clock.Set(testkit.Noon.Add(60*24*time.Hour + time.Second))
			expect.OK(studio.T)(studio.App.Accounts.RegisterDevice(studio.T.Context(), mia, member.Android, "new"))
			expect.OK(studio.T)(studio.App.Housekeeping.SweepTenant(studio.T.Context(), studio.Tenant))
			test.EqOp(studio.T, 1, studio.Count(`select count(*) from devices`), test.Sprint("devices"))
		},
	})
}

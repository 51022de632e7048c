package messages_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// What a provider gets of a booking, in full. Without a public URL and an address of the platform's, the calendar entry
// names this host.
func TestMessages_OfABooking(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, func(_ *worker.Config, ac *app.Config) { ac.PublicURL = "" })
	pier := studio.AddLocation(catalog.Location{Name: "Pier 7", Address: "Quay Street 1", TimeZone: "Europe/Lisbon"})
	hall := studio.AddResource(catalog.Resource{Name: "Hall", Location: pier})
	start := testkit.Noon.Add(48 * time.Hour)
	class := studio.SessionAt(start, func(in *session.Input) {
		in.Location, in.Resource, in.Coach = pier, hall, studio.Coach.Member
	})
	mia := studio.AddReachable("Mia")
	booking := studio.MustPlace(mia, class).Booking.ID
	studio.Plan()
	out := expect.Value(studio.App.Messages.TakeNotices(t.Context(), studio.Tenant))(t).Out
	must.SliceLen(t, 2, out)
	device, mail := out[0].Message, out[1].Message
	data := map[string]string{"topic": "BOOKING_CONFIRMED", "booking_id": booking.String(), "session_id": class.String()}
	test.Eq(t, notify.Message{
		ID: device.ID, Channel: push, To: "device-of-" + mia.Subject, Title: "Booked: Vinyasa",
		Text: "Wed 18 Mar, 13:00 (CET), Pier 7", Link: "/", CollapseKey: booking.String(), Data: data, ExpiresAt: start,
	}, device)
	test.Eq(t, notify.Message{
		ID: mail.ID, Channel: email, To: "mia@example.com", ToName: "Mia", From: notify.Mailbox{Name: "Harbour Yoga"},
		Subject: "Booked: Vinyasa, Wed 18 Mar, 13:00 (CET)", Text: mail.Text, HTML: mail.HTML, Calendar: mail.Calendar,
		Unsubscribe: mail.Unsubscribe, CollapseKey: booking.String(), Data: data, ExpiresAt: start,
	}, mail)
	for _, line := range []string{
		"UID:" + booking.String() + "@localhost", `LOCATION:Pier 7\, Hall\, Quay Street 1`, "DESCRIPTION:Carla Coach",
		"DTSTAMP:20260316T120000Z", "DTEND:20260318T130000Z", "ORGANIZER;CN=Harbour Yoga:mailto:noreply@localhost",
		"ATTENDEE;CN=Mia;PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:mia@example.com",
	} {
		test.StrContains(t, string(mail.Calendar.Body), line+"\r\n")
	}
}

// Only members have choices, feeds and tests.
func TestMessages_AreForMembers(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	s, ctx := studio.App.Messages, t.Context()
	robot := studio.AddPartner("Robot")
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	for name, err := range map[string]error{
		"choices":        expect.Error(s.GetNotificationPreferences(ctx, robot, tenant.MemberID{})),
		"no one's":       expect.Error(s.GetNotificationPreferences(ctx, studio.Owner, testkit.NewID[tenant.MemberID]())),
		"another's":      expect.Error(s.GetNotificationPreferences(ctx, testkit.SelfOnly(mia), noa.Member)),
		"to choose":      expect.Error(s.UpdateNotificationPreferences(ctx, robot, messages.PreferencesEdit{})),
		"a feed":         expect.Error(s.CreateCalendarFeed(ctx, robot)),
		"to end a feed":  s.DeleteCalendarFeed(ctx, robot),
		"a test message": expect.Error(s.SendTest(ctx, robot, confirmed, email, "en")),
	} {
		test.EqOp(t, fault.MemberNotFound, fault.ReasonOf(err), test.Sprint(name))
	}
	expect.OK(t)(s.GetNotificationPreferences(ctx, studio.Owner, noa.Member))
}

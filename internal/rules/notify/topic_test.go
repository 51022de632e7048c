package notify

import (
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Rows, events and clients have the names of topics, also those that were written years ago. The channels are those
// that are used without a choice: s for SMS, p for push and e for email.
func TestTopics_AreSentAsTheirRowsSay(t *testing.T) {
	t.Parallel()
	alert, both := []Lane{Alert}, []Lane{Alert, Mail}
	var tested []Topic
	for topic, want := range map[Topic]struct {
		stored                                               Topic
		channels                                             string
		lanes                                                []Lane
		fixed, session, canWait, urgent, isOffer, notCounted bool
		calendar                                             CalendarChange
	}{
		BookingConfirmed: {
			stored: "BOOKING_CONFIRMED", channels: "pe", lanes: both, session: true, canWait: true,
			calendar: PutCalendarEntry,
		},
		Waitlisted: {stored: "WAITLISTED", channels: "e", lanes: both, session: true, canWait: true},
		Promoted: {
			stored: "PROMOTED", channels: "spe", lanes: both, session: true, urgent: true, calendar: PutCalendarEntry,
		},
		Offered: {stored: "OFFER", channels: "spe", lanes: both, session: true, urgent: true, isOffer: true},
		OfferExpiring: {
			stored: "OFFER_EXPIRING", channels: "sp", lanes: alert, session: true, urgent: true, isOffer: true,
		},
		BookingCancelled: {
			stored: "BOOKING_CANCELLED", channels: "e", lanes: both, session: true, calendar: RemoveCalendarEntry,
		},
		SessionCancelled: {
			stored: "SESSION_CANCELLED", channels: "spe", lanes: both, session: true, urgent: true,
			calendar: RemoveCalendarEntry,
		},
		Rescheduled: {stored: "RESCHEDULED", channels: "pe", lanes: both, session: true, calendar: PutCalendarEntry},
		Reminder:    {stored: "REMINDER", channels: "pe", lanes: alert, session: true, canWait: true, urgent: true},
		CheckInOpen: {stored: "CHECK_IN_OPEN", channels: "p", lanes: alert, session: true, canWait: true},
		CreditsLow:  {stored: "CREDITS_LOW", channels: "e", lanes: both, canWait: true},
		StaffNote:   {stored: "STAFF_NOTE", channels: "pe", lanes: both, session: true, canWait: true},

		WaitlistEnded: {stored: "WAITLIST_ENDED", channels: "pe", lanes: both, session: true, canWait: true},

		AccessChanged:  {stored: "ACCESS_CHANGED", channels: "pe", lanes: both},
		ContactCode:    {stored: "CONTACT_CODE", channels: "spe", lanes: alert, fixed: true, notCounted: true},
		ContactChanged: {stored: "CONTACT_CHANGED", channels: "spe", lanes: alert, fixed: true},
		DomainLapsed:   {stored: "SENDING_DOMAIN", channels: "spe", lanes: alert, fixed: true},
		QuotaReached:   {stored: "SENDING_QUOTA", channels: "spe", lanes: alert, fixed: true},
	} {
		tested = append(tested, topic)
		test.EqOp(t, want.stored, topic)
		channels := ""
		for _, c := range []delivery.Channel{sms, push, email} {
			if Preferences(nil).Allow(topic, c) {
				channels += strings.ToLower(string(c[:1]))
			}
		}
		test.EqOp(t, want.channels, channels, test.Sprint(topic))
		test.Eq(t, want.lanes, topic.Lanes(), test.Sprint(topic))
		test.EqOp(t, want.fixed, topic.Fixed(), test.Sprint(topic))
		test.EqOp(t, !want.fixed, slices.Contains(Topics(), topic), test.Sprint(topic))
		test.EqOp(t, want.session, topic.AboutSession(), test.Sprint(topic))
		test.EqOp(t, want.canWait, topic.CanWait(), test.Sprint(topic))
		test.EqOp(t, want.urgent, topic.Urgent(), test.Sprint(topic))
		test.EqOp(t, want.isOffer, topic.IsOffer(), test.Sprint(topic))
		test.EqOp(t, !want.notCounted, topic.Counted(), test.Sprint(topic))
		test.EqOp(t, want.calendar, topic.Calendar(), test.Sprint(topic))
	}
	for _, row := range topics {
		test.SliceContains(t, tested, row.topic)
	}
	test.Eq(t, []Topic{
		BookingConfirmed, Waitlisted, Promoted, Offered, OfferExpiring, BookingCancelled, SessionCancelled, Rescheduled,
		Reminder, CheckInOpen, CreditsLow, StaffNote, AccessChanged, WaitlistEnded,
	}, Topics())
	for _, p := range Preferences(nil).All() {
		test.True(t, p.IsDefault)
	}
	test.False(t, Topic("UNKNOWN").Default(email))
	test.Eq(t, alert, Topic("UNKNOWN").Lanes())
	test.Eq(t, []delivery.Channel{push, sms}, Offered.Channels(Alert))
	test.Eq(t, []delivery.Channel{push, sms, email}, Reminder.Channels(Alert))
	test.Eq(t, []delivery.Channel{email}, Offered.Channels(Mail))
	test.Eq(t, []delivery.Channel{sms}, ContactCode.Channels(Alert))
}

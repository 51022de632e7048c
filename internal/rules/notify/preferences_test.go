package notify

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Without choices, these channels are used: A for an alert, M for a mail of its own.
func TestPreferences_DefaultToTheTopicsChannels(t *testing.T) {
	t.Parallel()
	got := make(map[Topic]string)
	for _, p := range Preferences(nil).All() {
		test.True(t, p.IsDefault)
		if p.Enabled {
			got[p.Topic] += string(p.Channel) + " "
		}
	}
	for topic := range got {
		for _, lane := range topic.Lanes() {
			got[topic] += string(lane[:1])
		}
	}
	test.Eq(t, map[Topic]string{
		BookingConfirmed: "PUSH EMAIL AM", Waitlisted: "EMAIL AM", Promoted: "SMS PUSH EMAIL AM",
		Offered: "SMS PUSH EMAIL AM", OfferExpiring: "SMS PUSH A", BookingCancelled: "EMAIL AM",
		SessionCancelled: "SMS PUSH EMAIL AM", Rescheduled: "PUSH EMAIL AM", Reminder: "PUSH EMAIL A",
		CheckInOpen: "PUSH A", CreditsLow: "EMAIL AM", StaffNote: "PUSH EMAIL AM", AccessChanged: "PUSH EMAIL AM",
	}, got)
	test.False(t, Topic("UNKNOWN").Default(email))
	test.Eq(t, []Lane{Alert}, Topic("UNKNOWN").Lanes())
	test.Eq(t, [][]delivery.Channel{{push, sms}, {push, sms, email}, {email}},
		[][]delivery.Channel{Offered.Channels(Alert), Reminder.Channels(Alert), Offered.Channels(Mail)})
	for _, topic := range Topics() {
		test.EqOp(t, topic == Offered || topic == OfferExpiring, topic.IsOffer())
	}
}

func TestPreferences_AreTheMembersChoices(t *testing.T) {
	t.Parallel()
	choice := func(topic Topic, c delivery.Channel, on bool) Preference {
		return Preference{PreferenceKey{topic, c}, on, false}
	}
	off, on := choice(Reminder, push, false), choice(Reminder, sms, true)
	p := expect.Value(ParsePreferences([]Preference{off, on}))(t)
	test.Eq(t, Preferences{off.PreferenceKey: false, on.PreferenceKey: true}, p)
	test.SliceContainsSubset(t, p.All(), []Preference{off, on, {PreferenceKey{Reminder, email}, true, true}})
	test.Eq(t, []bool{true, false, false}, []bool{p.AnyOn(sms), p.AnyOn(push), p.AnyOn(email)})
	for _, wrong := range [][]Preference{{off, on, off}, {choice(AccessChanged, email, false)}} {
		test.EqOp(t, "INVALID_FIELD @preferences.preferences", faulttest.Text(expect.Error(ParsePreferences(wrong))))
	}
	p = expect.Value(ParsePreferences([]Preference{
		choice(AccessChanged, email, true), choice(AccessChanged, push, false),
	}))(t)
	test.False(t, p.Allow(AccessChanged, push))
}

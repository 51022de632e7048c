package notify

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestPreferences_AreTheMembersChoices(t *testing.T) {
	t.Parallel()
	choice := func(topic Topic, c delivery.Channel, on bool) Preference {
		return Preference{PreferenceKey{topic, c}, on, false}
	}
	off, on := choice(Reminder, push, false), choice(Reminder, sms, true)
	p := expect.Value(ParsePreferences([]Preference{off, on}))(t)
	test.Eq(t, Preferences{off.PreferenceKey: false, on.PreferenceKey: true}, p)
	test.SliceContainsSubset(t, p.All(), []Preference{off, on, {PreferenceKey{Reminder, email}, true, true}})
	test.True(t, p.AnyOn(sms))
	test.False(t, p.AnyOn(push))
	test.False(t, p.AnyOn(email))
	for _, wrong := range [][]Preference{{off, on, off}, {choice(AccessChanged, email, false)}} {
		test.EqOp(t, "INVALID_FIELD @preferences.preferences", faulttest.Text(expect.Error(ParsePreferences(wrong))))
	}
	p = expect.Value(ParsePreferences([]Preference{
		choice(AccessChanged, email, true), choice(AccessChanged, push, false),
	}))(t)
	test.False(t, p.Allow(AccessChanged, push))
}

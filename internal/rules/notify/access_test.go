package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/delivery"
)

// Who takes over an owner's account cannot keep the others from being told, not even with what was stored before.
func TestDecide_TellsOfAccessWhateverTheRecipientTurnedOff(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: AccessChanged, Lane: Mail, ExpiresAt: monday.Add(time.Hour)}
	off := Preferences{{AccessChanged, email}: false}
	for name, c := range map[string]struct {
		to   Recipient
		want Action
	}{
		"turned off":  {Recipient{Known: true, Preferences: off}, Action{Kind: Send, Channel: email}},
		"deactivated": {Recipient{Preferences: off}, Action{Kind: Send, Channel: email}},
		"unsubscribed": {
			Recipient{Known: true, Stopped: map[delivery.Channel]Reason{email: Unsubscribed}},
			Action{Kind: Send, Channel: email},
		},
		"in quiet hours": {
			Recipient{Known: true, Quiet: &QuietHours{End: civil.TimeOfDay{Hour: 23, Minute: 59}}},
			Action{Kind: Send, Channel: email},
		},
		"an address that does not work": {
			Recipient{Known: true, Stopped: map[delivery.Channel]Reason{email: Bounced}},
			Action{Kind: Drop, Reason: Bounced},
		},
	} {
		c.to.Email, c.to.Zone = "olga@example.com", time.UTC
		test.Eq(t, c.want, Decide(n, DefaultSettings(), c.to, Facts{}, monday), test.Sprint(name))
	}
	stopped := Recipient{
		Known: true, Email: "olga@example.com", Zone: time.UTC, Stopped: map[delivery.Channel]Reason{email: Unsubscribed},
	}
	other := Notice{Topic: CreditsLow, Lane: Mail, ExpiresAt: monday.Add(time.Hour)}
	test.Eq(t, Action{Kind: Drop, Reason: Unsubscribed}, Decide(other, DefaultSettings(), stopped, Facts{}, monday))
}

package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
)

// Who takes over an owner's account cannot keep the others from being told, not even with what was stored before.
func TestDecide_TellsOfAccessWhateverTheRecipientTurnedOff(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: AccessChanged, Lane: Mail, ExpiresAt: monday.Add(time.Hour)}
	off := Preferences{{AccessChanged, Email}: false}
	for name, c := range map[string]struct {
		to   Recipient
		want Decision
	}{
		"turned off":  {Recipient{Known: true, Preferences: off}, Decision{Action: Send, Channel: Email}},
		"deactivated": {Recipient{Preferences: off}, Decision{Action: Send, Channel: Email}},
		"unsubscribed": {
			Recipient{Known: true, Stopped: map[Channel]Reason{Email: Unsubscribed}}, Decision{Action: Send, Channel: Email},
		},
		"in quiet hours": {
			Recipient{Known: true, Quiet: &QuietHours{End: civil.TimeOfDay{Hour: 23, Minute: 59}}}, Decision{Action: Send, Channel: Email},
		},
		"an address that does not work": {
			Recipient{Known: true, Stopped: map[Channel]Reason{Email: BouncedReason}},
			Decision{Action: Drop, Reason: BouncedReason},
		},
	} {
		c.to.Email, c.to.Zone = "olga@example.com", time.UTC
		settings := DefaultSettings()
		settings.EmailInQuiet = false
		test.Eq(t, c.want, Decide(n, settings, c.to, Facts{}, monday), test.Sprint(name))
	}
	stopped := Recipient{
		Known: true, Email: "olga@example.com", Zone: time.UTC, Stopped: map[Channel]Reason{Email: Unsubscribed},
	}
	other := Notice{Topic: CreditsLow, Lane: Mail, ExpiresAt: monday.Add(time.Hour)}
	test.Eq(t, Decision{Action: Drop, Reason: Unsubscribed}, Decide(other, DefaultSettings(), stopped, Facts{}, monday))
}

func TestAccessChange_IsASentenceInEachLanguage(t *testing.T) {
	t.Parallel()
	kinds := []AccessChangeKind{
		RoleGiven, RoleTaken, Deactivated, Reactivated, ContactEdited, TransferOffered, TransferConfirmed, TransferCancelled,
	}
	for _, language := range []string{"en", "de", "fr"} {
		seen := make(map[string]bool)
		for _, kind := range kinds {
			for _, role := range []string{"owner", "admin"} {
				text := localeFor(language).accessChange(AccessChange{Kind: kind, Role: role, Name: "Ben", By: "Olga"})
				test.True(t, strings.Contains(text, "Ben") && strings.Contains(text, "Olga") && strings.HasSuffix(text, "."),
					test.Sprint(text))
				test.False(t, strings.Contains(text, "%"), test.Sprint(text))
				seen[fmt.Sprint(role, text)] = true
			}
		}
		test.MapLen(t, 2*len(kinds), seen)
	}
	test.EqOp(t, "Olga made Ben an owner.",
		localeFor("es").accessChange(AccessChange{Kind: RoleGiven, Role: "owner", Name: "Ben", By: "Olga"}))
	test.EqOp(t, "The operator of the service took the role from Ben, who is no longer an admin.",
		localeFor("en").accessChange(AccessChange{Kind: RoleTaken, Role: "admin", Name: "Ben"}))
}

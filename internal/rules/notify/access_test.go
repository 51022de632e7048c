package notify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/tenant"
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
			Recipient{Known: true, Quiet: &QuietHours{End: civil.TimeOfDay{Hour: 23, Minute: 59}}},
			Decision{Action: Send, Channel: Email},
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

var accessChanges = []AccessChangeKind{
	RoleGiven, RoleTaken, Deactivated, Reactivated, ContactEdited, TransferOffered, TransferConfirmed, TransferCancelled,
}

func TestAccessChange_IsASentenceInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de", "fr"} {
		seen := make(map[string]bool)
		for _, kind := range accessChanges {
			for _, role := range []string{"owner", "admin"} {
				text := localeFor(language).accessChange(AccessChange{Kind: kind, Role: role, Name: "Ben", By: "Olga"})
				test.StrContains(t, text, "Ben")
				test.StrContains(t, text, "Olga")
				test.StrHasSuffix(t, ".", text)
				test.False(t, strings.Contains(text, "%"), test.Sprint(text))
				seen[fmt.Sprint(role, text)] = true
			}
		}
		test.MapLen(t, 2*len(accessChanges), seen)
	}
	test.EqOp(t, "Olga made Ben an owner.",
		localeFor("es").accessChange(AccessChange{Kind: RoleGiven, Role: "owner", Name: "Ben", By: "Olga"}))
	test.EqOp(t, "The operator of the service took the role from Ben, who is no longer an admin.",
		localeFor("en").accessChange(AccessChange{Kind: RoleTaken, Role: "admin", Name: "Ben"}))
}

// A code for a new contact, and the news of it to the old one, go to that contact alone. Only the code does not count
// toward the frequency cap.
func TestNoticesForAContact_GoToItAlone(t *testing.T) {
	t.Parallel()
	owner, thing := tenant.MemberID{UUID: tenant.UUID{1}}, tenant.UUID{2}
	ends := monday.Add(10 * time.Minute)
	test.Eq(t, []Notice{{
		Topic: ContactCode, Lane: Alert, Member: owner, Thing: thing, DueAt: monday, At: monday, ExpiresAt: ends,
		Details: Details{To: "+351912345678", Sealed: []byte("sealed")},
	}, {
		Topic: ContactChanged, Lane: Mail, Member: owner, Thing: thing, DueAt: monday, At: monday,
		ExpiresAt: monday.Add(24 * time.Hour), Details: Details{To: "ana@example.com"},
	}, {
		Topic: DomainLapsed, Lane: Mail, Member: owner, Thing: thing, DueAt: monday, At: monday,
		ExpiresAt: monday.Add(7 * 24 * time.Hour), Details: Details{From: "hello@studio.com"},
	}}, []Notice{
		NewCode(owner, tenant.CodeID{UUID: thing}, SMS, "+351912345678", []byte("sealed"), monday, ends),
		OldContact(owner, thing, Email, "ana@example.com", monday),
		NewDomainLapsed(owner, thing, "hello@studio.com", monday),
	})
	stopped := map[Channel]Reason{SMS: OptedOutReason}
	ana := Recipient{Known: true, Phone: "+1", Email: "a@example.com", Devices: []Device{{}}}
	test.Eq(t, []Recipient{
		{Known: true, Phone: "+351912345678", Stopped: stopped}, {Known: true, Email: "ana@example.com", Stopped: stopped},
	}, []Recipient{ana.At(SMS, "+351912345678", stopped), ana.At(Email, "ana@example.com", stopped)})
	for _, topic := range append(Topics(), ContactCode, ContactChanged, DomainLapsed) {
		test.EqOp(t, !slices.Contains(Topics(), topic), topic.Fixed(), test.Sprint(topic))
		test.EqOp(t, topic != ContactCode, topic.Counted(), test.Sprint(topic))
	}
}

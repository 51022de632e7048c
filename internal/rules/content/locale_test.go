package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/notify"
)

var accessChanges = []notify.AccessChangeKind{
	notify.RoleGiven, notify.RoleTaken, notify.Deactivated, notify.Reactivated, notify.ContactEdited,
	notify.TransferOffered, notify.TransferConfirmed, notify.TransferCancelled,
}

func TestAccessChange_IsASentenceInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de", "fr"} {
		seen := make(map[string]bool)
		for _, kind := range accessChanges {
			for _, role := range []string{"owner", "admin"} {
				text := localeFor(language).accessChange(notify.AccessChange{Kind: kind, Role: role, Name: "Ben", By: "Olga"})
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
		localeFor("es").accessChange(notify.AccessChange{Kind: notify.RoleGiven, Role: "owner", Name: "Ben", By: "Olga"}))
	test.EqOp(t, "The operator of the service took the role from Ben, who is no longer an admin.",
		localeFor("en").accessChange(notify.AccessChange{Kind: notify.RoleTaken, Role: "admin", Name: "Ben"}))
}

// A locale lacks no text, and no two of its days or months have the same name.
func TestLocales_AreComplete(t *testing.T) {
	t.Parallel()
	for _, l := range append(slices.Clone(locales), locales[0]) {
		for _, names := range [][]string{l.locale.days[:], l.locale.months[:], {
			l.locale.dayFormat, l.locale.dateAndTime, l.locale.timeLayout, l.locale.inMinutes, l.locale.inHour,
			l.locale.inHours, l.locale.inDays, l.locale.unsubscribe, l.locale.open, l.locale.sentFor, l.locale.report,
		}} {
			test.SliceNotContains(t, names, "", test.Sprint(l.tag))
			test.Len(t, len(names), slices.Compact(slices.Sorted(slices.Values(names))), test.Sprint(l.tag))
		}
		for _, format := range []string{l.locale.inMinutes, l.locale.inHours, l.locale.inDays} {
			test.StrNotContains(t, fmt.Sprintf(format, 2), "%")
		}
	}
}

func TestLocale_WritesSpansInTheLargestWholeUnit(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]string{
		30 * time.Minute: "in 30 minutes", 29*time.Minute + 30*time.Second: "in 30 minutes", time.Hour: "in 1 hour",
		90 * time.Minute: "in 90 minutes", 2 * time.Hour: "in 2 hours", 24 * time.Hour: "in 24 hours",
		25 * time.Hour: "in 25 hours", 48 * time.Hour: "in 2 days", 49 * time.Hour: "in 49 hours",
	} {
		test.EqOp(t, want, english.span(span))
	}
}

func TestDateTime_UsesTheRecipientsLanguageAndZone(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	var got []string
	for _, locale := range []string{"en-GB", "en", "en-US", "de-AT", "fr-CA", "pt-BR", "nl", "xx"} {
		got = append(got, localeFor(locale).dateTime(exampleStart, berlin, berlin))
	}
	for _, name := range []string{"Europe/Lisbon", "Asia/Dubai"} {
		got = append(got, english.dateTime(exampleStart, zone(t, name), berlin))
	}
	want := []string{
		"Sat 23 May, 09:30", "Sat 23 May, 09:30", "Sat, May 23, 9:30 AM", "Sa, 23. Mai, 09:30",
		"sam. 23 mai à 09:30", "sáb., 23 de mai., 09:30", "za 23 mei, 09:30", "Sat 23 May, 09:30",
		"Sat 23 May, 08:30 (WEST)", "Sat 23 May, 11:30 (UTC+04:00)",
	}
	test.Eq(t, want, got)
}

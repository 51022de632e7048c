package content_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var frame = content.MailFrame{
	Tenant: "Harbour Yoga", Locale: "en", Zone: time.UTC, Report: "abuse@berth.example",
}

func mailOf(kind content.MailKind, locale string) content.PlatformMail {
	return content.PlatformMail{
		Kind: kind, To: "mia@example.com", Name: "Mia", Locale: locale, Code: "123456",
		Link: "https://berth.example/invite/abc", Address: "noa@example.com",
		Until: time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC),
	}
}

// Each kind has texts in the languages that messages have, which say what the mail is for.
func TestPlatformMail_SaysWhatItIsForInEachLanguage(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, locale := range content.DefaultLocales() {
		for _, kind := range content.MailKinds() {
			m := expect.Value(mailOf(kind, locale).Message(frame))(t)
			what := test.Sprintf("%s %s: %+v", kind, locale, m)
			test.EqOp(t, "mia@example.com", m.To, what)
			test.EqOp(t, "Harbour Yoga", m.From.Name, what)
			test.EqOp(t, "", m.From.Address, what)
			test.False(t, seen[m.Subject], what)
			seen[m.Subject] = true
			for _, part := range []string{m.Text, m.HTML} {
				test.StrContains(t, part, "Mia", what)
				test.StrContains(t, part, "Harbour Yoga", what)
				test.StrContains(t, part, "abuse@berth.example", what)
				test.EqOp(t, kind == content.MailCode, strings.Contains(part, "123456"), what)
				linked := kind == content.MailInvitation || kind == content.MailAddressChanged
				test.EqOp(t, linked, strings.Contains(part, "https://berth.example/invite/abc"), what)
				test.EqOp(t, linked, strings.Contains(part, "12:00"), what)
				test.EqOp(t, kind == content.MailAddressChanged, strings.Contains(part, "n***@example.com"), what)
			}
			test.StrNotContains(t, m.Subject, "123456", what)
		}
	}
}

func TestPlatformMail_IsInALanguageThatHasTexts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ own, tenants, want string }{
		{"de-AT", "fr", "Ihr Code zum Anmelden"},
		{"", "fr-CA", "Votre code de connexion"},
		{"nl", "de", "Ihr Code zum Anmelden"},
		{"nl", "it", "Your code to sign in"},
		{"??", "", "Your code to sign in"},
	} {
		in := frame
		in.Locale = tc.tenants
		m := expect.Value(mailOf(content.MailCode, tc.own).Message(in))(t)
		test.EqOp(t, tc.want, m.Subject, test.Sprintf("%+v", tc))
	}
}

// The old address that cannot refuse is told whom to ask.
func TestPlatformMail_WithoutLinkAsksToTell(t *testing.T) {
	t.Parallel()
	mail := mailOf(content.MailAddressChanged, "en")
	mail.Link = ""
	m := expect.Value(mail.Message(frame))(t)
	test.StrContains(t, m.Text, "Did you not want that?")
	test.StrNotContains(t, m.Text, "Agree or refuse")
}

// A name leads nowhere, whatever its owner calls themselves: the only link of a mail is the platform's.
func TestPlatformMail_NamesAreNoLinks(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Win at https://evil.example/now": "Win at https evil. example now",
		"www.evil.example":                "www. evil. example",
		"mia@evil.example":                "mia @ evil. example",
		"Yoga @ the Pier":                 "Yoga @ the Pier",
		"J.R. Miller":                     "J. R. Miller",
		`\\evil\share`:                    "evil share",
		"evil。example":                    "evil。 example",
		"Dr. Mia Müller-Lüdenscheidt":     "Dr. Mia Müller-Lüdenscheidt",
		"https://evil.example":            "https evil. example",
	} {
		mail, in := mailOf(content.MailInvitation, "en"), frame
		mail.Name, in.Tenant = name, name
		m := expect.Value(mail.Message(in))(t)
		test.StrContains(t, m.Text, "Hello "+want+",")
		test.StrContains(t, m.Text, want+" invites you.")
		test.EqOp(t, "Your invitation to "+want, m.Subject)
		test.EqOp(t, 1, strings.Count(m.HTML, "<a href="), test.Sprint(m.HTML))
	}
	mail := mailOf(content.MailInvitation, "en")
	mail.Name = `<a href="https://evil.example">`
	test.EqOp(t, 1, strings.Count(expect.Value(mail.Message(frame))(t).HTML, "<a href="))
}

func TestReadPlatformMail_ReadsWhatTextWrote(t *testing.T) {
	t.Parallel()
	mail := mailOf(content.MailAddressChanged, "de")
	must.Eq(t, mail, expect.Value(content.ReadPlatformMail(mail.Text()))(t))
	for _, text := range []string{"", "{}", `{"kind":"LOTTERY"}`, "[1]"} {
		_, err := content.ReadPlatformMail([]byte(text))
		test.Error(t, err, test.Sprint(text))
	}
}

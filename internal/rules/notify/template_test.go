package notify

import (
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestDefaultTemplate_ExistsForEveryTopicLanguageAndChannel(t *testing.T) {
	t.Parallel()
	for _, locale := range DefaultLocales() {
		for _, topic := range Topics() {
			for _, c := range Channels() {
				made, ok := DefaultTemplate(topic, c, locale)
				if !ok {
					t.Errorf("%s by %s in %s: none", topic, c, locale)
					continue
				}
				test.NoError(t, expect.Error(made.Check()), test.Sprintf("%s by %s in %s", topic, c, locale))
				out := expect.Value(Render(
					made, Example(topic, locale), brand.Brand{}, Foot{Unsubscribe: "https://berth.example/unsubscribe/x"},
				))(t)
				test.NotEqOp(t, "", out.Text, test.Sprintf("%s by %s in %s: %+v", topic, c, locale, out))
				test.True(t, c == SMS || out.Subject != "", test.Sprintf("%s by %s in %s: %+v", topic, c, locale, out))
				test.EqOp(t, (out.HTML != ""), (c == Email), test.Sprintf("%s by %s in %s: %+v", topic, c, locale, out))
				test.False(
					t, c == SMS && (out.Segments != 1 || !out.GSM7),
					test.Sprintf("%s in %s takes %d segments: %q", topic, locale, out.Segments, out.Text),
				)
				test.StrNotContains(t, out.Text, "\n\n\n",
					test.Sprintf("%s by %s in %s has extra space or unfilled variables:\n%s", topic, c, locale,
						out.Text))
				test.StrNotContains(t, out.Text, "{{",
					test.Sprintf("%s by %s in %s has extra space or unfilled variables:\n%s", topic, c, locale,
						out.Text))
				test.StrNotContains(t, strings.ReplaceAll(out.Text, "-- \n", ""), " \n",
					test.Sprintf("%s by %s in %s has extra space or unfilled variables:\n%s", topic, c, locale,
						out.Text))
			}
		}
	}
}

func TestCheck_ReportsPositionOfTheError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, field, text, line, column, says string }{
		{"an unknown variable", "body", "Hello\n {{.Nxme}}", "2", "4", "Nxme"},
		{"a variable of another topic", "body", "{{.ClaimURL}}", "1", "3", "ClaimURL"},
		{"a variable in a branch not taken", "body", "{{if .Coach}}x{{else}}{{.Nxme}}{{end}}", "1", "25", "Nxme"},
		{"a forbidden function", "body", "Hello\n\n  {{printf \"%999999999d\" 1}}", "3", "5", "printf"},
		{"an unknown function", "body", "a {{shout .Name}}", "1", "3", "shout"},
		{"a loop", "body", "{{range 1000000000}}x{{end}}", "1", "9", "range"},
		{"no end", "body", "Hi {{.Name}} {{if .Coach}}with", "1", "31", "EOF"},
		{"not closed", "body", "Hi\n{{.Name", "2", "1", "unclosed"},
		{"one end too many", "body", "Hi {{.Name}}{{end}}", "1", "13", "end"},
		{"a type that does not fit", "body", "{{if gt .Title 1}}x{{end}}", "1", "6", "incompatible types"},
		{"a call of a method", "body", "{{.Name.Foo}}", "1", "8", "Foo"},
		{"another template", "body", `{{template "x"}}`, "1", "12", "template"},
		{"too many actions", "body", strings.Repeat("{{1}}", 1001), "1", "5001", "more than 1000 actions"},
		{"after letters of two bytes", "body", "Grüße {{.Nxme}}", "1", "9", "Nxme"},
		{"in the subject", "subject", "{{.Title}} {{frobnicate .Title}}", "1", "12", "frobnicate"},
		{"in the HTML", "html", "<p>\n{{.Code}}</p>", "2", "3", "Code"},
	} {
		template := Template{Topic: Reminder, Channel: Email, Locale: "en", Subject: "Soon", Body: "Soon"}
		*map[string]*string{"subject": &template.Subject, "body": &template.Body, "html": &template.HTML}[c.field] = c.text
		_, err := template.Check()
		f, ok := err.(*fault.Error)
		if !ok || f.Reason != fault.TemplateInvalid {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		line, column := f.Metadata["line"], f.Metadata["column"]
		test.EqOp(t, c.line, line,
			test.Sprintf("%s: %s:%s %s, want %s:%s about %s", c.what, line, column, f.Message, c.line, c.column,
				c.says))
		test.EqOp(t, c.column, column,
			test.Sprintf("%s: %s:%s %s, want %s:%s about %s", c.what, line, column, f.Message, c.line, c.column,
				c.says))
		test.StrContains(t, f.Message, c.says,
			test.Sprintf("%s: %s:%s %s, want %s:%s about %s", c.what, line, column, f.Message, c.line, c.column,
				c.says))
		test.EqOp(t, "template."+c.field, f.Field,
			test.Sprintf("%s: %s:%s %s, want %s:%s about %s", c.what, line, column, f.Message, c.line, c.column,
				c.says))
	}
}

func TestRender_EscapesHTMLAndJoinsSubjectLines(t *testing.T) {
	t.Parallel()
	text := Template{Topic: Reminder, Channel: Email, Locale: "en", Subject: "{{.Title}}", Body: "{{.Title}}"}
	html := text
	html.HTML = `<p title="{{.Title}}">{{.Title}}</p>`
	for _, tpl := range []Template{html, text} {
		values := Example(Reminder, "en")
		values["Title"] = "<script>alert(1)</script>\r\nBcc: x@example.com"
		out := expect.Value(Render(tpl, values, brand.Brand{}, Foot{}))(t)
		test.StrNotContains(t, out.HTML, "<script", test.Sprint("not escaped"))
		test.False(t, strings.ContainsAny(out.Subject, "\r\n"), test.Sprintf("a subject of several lines: %q", out.Subject))
	}
}

func TestChoose_PrefersOwnTemplateInTheNearestLocale(t *testing.T) {
	t.Parallel()
	own := []Template{
		{Topic: Reminder, Channel: SMS, Locale: "pt", Body: "own pt"},
		{Topic: Reminder, Channel: SMS, Locale: "de-AT", Body: "own de-AT"},
	}
	german, _ := DefaultTemplate(Reminder, SMS, "de")
	english, _ := DefaultTemplate(Reminder, SMS, "en")
	for _, c := range []struct {
		locales []string
		want    string
	}{
		{[]string{"pt-BR", "de"}, "own pt"},
		{[]string{"de-AT", "fr"}, "own de-AT"},
		{[]string{"de-CH", "fr"}, german.Body},
		{[]string{"ja", "de"}, german.Body},
		{[]string{"ja", "ko"}, english.Body},
		{[]string{"", ""}, english.Body},
	} {
		test.EqOp(t, c.want, Choose(own, Reminder, SMS, c.locales...).Body, test.Sprint(c.locales))
	}
}

func TestRender_ShortensTextMessagesToOneSegment(t *testing.T) {
	t.Parallel()
	for _, locale := range DefaultLocales() {
		wantOneSegment(t, locale)
	}
}

func wantOneSegment(t *testing.T, locale string) {
	t.Helper()
	values := Example(Offered, locale)
	values["When"] = values["When"].(string) + " (WEST)"
	values["Title"] = "Atelier découverte de la méditation guidée « pleine conscience » niveau débutant avec Œuvre"
	values["Tenant"] = "Maison du Bien-être à Neuilly"
	values["ClaimURL"] = "https://book.berth.example/claim/Zk3vJ0c1QmW8sXyT4nLpBg"
	tpl, _ := DefaultTemplate(Offered, SMS, locale)
	out := expect.Value(Render(tpl, values, brand.Brand{}, Foot{}))(t)
	test.EqOp(t, 1, out.Segments, test.Sprintf("%d segments: %q", out.Segments, out.Text))
	test.True(t, out.GSM7, test.Sprintf("%d segments: %q", out.Segments, out.Text))
	for _, must := range []string{"1 4821", "2 4821", values["ClaimURL"].(string), values["ExpiresAt"].(string)} {
		test.StrContains(t, out.Text, must, test.Sprintf("%q was cut out of %q", must, out.Text))
	}
	values["Title"] = "瞑想"
	out = expect.Value(Render(tpl, values, brand.Brand{}, Foot{}))(t)
	test.False(t, out.GSM7, test.Sprintf("another script: %+v", out))
	test.StrContains(t, out.Text, "瞑想", test.Sprintf("another script: %+v", out))
}

func TestFoldToGSM_RemovesDiacriticsUnlessAnotherScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Café à 9 h – “à bientôt” …": `Café à 9 h - "à bientot" ...`,
		"Čajovna Łódź":               "Cajovna Lodz",
		"Ärger über Öl, ñ, ß":        "Ärger über Öl, ñ, ß",
		"Йога":                       "Йога",
	} {
		test.EqOp(t, want, foldToGSM(text))
	}
}

func TestParseReply_ReadsCodesAndKeywords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Reply{
		"1 4821": {Kind: Accept, Code: "4821"}, " 2  4821. ": {Kind: Decline, Code: "4821"},
		"1:4821": {Kind: Accept, Code: "4821"}, "14821": {Kind: Accept, Code: "4821"},
		"no": {}, "1": {}, "3 4821": {}, "": {}, "1 4821 please": {}, "STOP ALL": {},
		"stop": {Kind: Stop, HandledByCarrier: true}, "Stop.": {Kind: Stop, HandledByCarrier: true},
		"STOPALL": {Kind: Stop, HandledByCarrier: true},
		"cancel":  {Kind: Stop, HandledByCarrier: true}, "End": {Kind: Stop, HandledByCarrier: true},
		"opt-out": {Kind: Stop, HandledByCarrier: true},
		"stopp":   {Kind: Stop}, "Arrêt": {Kind: Stop}, "yes": {Kind: Start, HandledByCarrier: true},
		"START": {Kind: Start, HandledByCarrier: true},
		"help":  {Kind: Help, HandledByCarrier: true}, "Hilfe!": {Kind: Help}, "aide": {Kind: Help},
	} {
		test.EqOp(t, want, ParseReply(text), test.Sprintf("%q", text))
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

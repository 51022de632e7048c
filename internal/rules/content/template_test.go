package content

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestTemplateCheck_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	sms := Template{Topic: notify.Reminder, Channel: delivery.SMS, Locale: "en", Body: "x"}
	mail := Template{
		Topic: notify.Reminder, Channel: delivery.Email, Locale: "en", Subject: "x", Body: "x", HTML: "<p>{{.Title}}</p>",
	}
	at := func(field string, column int) string {
		return fmt.Sprintf("TEMPLATE_INVALID @template.%s column=%d line=1", field, column)
	}
	for name, tt := range map[string]struct {
		template Template
		want     string
	}{
		"a text":                {sms, ""},
		"a mail":                {mail, ""},
		"no language":           {vary.From(sms, set{"Locale": "english!"}), "INVALID_FIELD @locale"},
		"no body":               {vary.From(sms, set{"Body": " \n"}), "INVALID_FIELD @template.body"},
		"a text with a subject": {vary.From(sms, set{"Subject": "x"}), "INVALID_FIELD @template.subject"},
		"a subject that turns":  {vary.From(mail, set{"Subject": "\u202ex"}), "INVALID_FIELD @template.subject"},
		"a mail without":        {vary.From(mail, set{"Subject": " "}), "INVALID_FIELD @template.subject"},
		"a text with HTML":      {vary.From(sms, set{"HTML": "x"}), "INVALID_FIELD @template.html"},
		"a wrong subject":       {vary.From(mail, set{"Subject": "{{.Nxme}}"}), at("subject", 3)},
		"wrong HTML":            {vary.From(mail, set{"HTML": "{{.Nxme}}"}), at("html", 3)},
		"a loop in HTML":        {vary.From(mail, set{"HTML": "{{range .Title}}x{{end}}"}), at("html", 9)},
		"HTML without end":      {vary.From(mail, set{"HTML": "{{if .Title}}"}), at("html", 14)},
		"HTML in a script":      {vary.From(mail, set{"HTML": "{{if .Title}}<a href='{{end}}>"}), at("html", 6)},
		"HTML that fails":       {vary.From(mail, set{"HTML": "{{if gt .Title 1}}x{{end}}"}), at("html", 6)},
		"with and else": {
			vary.From(sms, set{"Body": "{{with .Coach}}{{.}}{{else}}{{.Nxme}}{{end}}"}), at("body", 31),
		},
		"a pipe":    {vary.From(sms, set{"Body": "{{.Title | upper | printf}}"}), at("body", 20)},
		"a chain":   {vary.From(sms, set{"Body": "{{(.Nxme).X}}"}), at("body", 4)},
		"too long":  {vary.From(sms, set{"Body": strings.Repeat("x", 256<<10+1)}), at("body", 1)},
		"just fits": {vary.From(sms, set{"Body": strings.Repeat("x", 256<<10)}), ""},
		"all functions": {vary.From(sms, set{
			"Body": "{{if and (or (not .Coach) (eq .Party 1)) (ne .Party 2) (lt .Party 3) (le .Party 3) " +
				"(gt 3 .Party) (ge 3 .Party)}}{{upper .Title}}{{lower .Title}}{{short .Title 3}}{{end}}",
		}), ""},
	} {
		got, err := tt.template.Check()
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			test.Eq(t, tt.template, got)
		}
		if strings.HasPrefix(tt.want, "TEMPLATE") {
			expect.Fault(t, tt.want, name)(Render(tt.template, Example(notify.Reminder, "en"), brand.Brand{}, Foot{}))
		}
	}
	test.EqOp(t, "de-AT", expect.Value(vary.From(sms, set{"Locale": "DE-at"}).Check())(t).Locale)
	test.EqOp(t, "de", CanonicalLocale("DE"))
	test.EqOp(t, "english!", CanonicalLocale("english!"))
}

func TestShort_CutsLongTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"Grüße", 5, "Grüße"}, {"Grüßen", 5, "Grüß."}, {"Yoga, slow", 6, "Yoga."}, {"Yoga", 3, "Yog"},
		{"Yoga", 0, "Yoga"}, {"Yoga", -1, "Yoga"}, {"Yogas", 4, "Yog."}, {"Yoga", 1, "Y"},
	} {
		test.EqOp(t, tt.want, short(tt.text, tt.n), test.Sprintf("%+v", tt))
	}
}

// The service runs templates of tenants, so nothing in them may be unchecked, wherever it is.
func TestTemplateCheck_ChecksEveryBranch(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"{{if .Coach}}{{printf}}{{end}}":          `there is no function "printf"`,
		"{{if printf}}x{{end}}":                   `there is no function "printf"`,
		"{{if .Coach}}x{{else}}{{printf}}{{end}}": `there is no function "printf"`,
		"{{with .Nxme}}x{{end}}":                  `there is no variable ".Nxme"`,
		"{{with .Coach}}{{printf}}{{end}}":        `there is no function "printf"`,
		"{{(.Nxme).X}}":                           `there is no variable ".Nxme"`,
		"{{.Title.Length}}":                       `there is no variable ".Title.Length"`,
		"{{range .Title}}x{{end}}":                "range is not allowed",
		`{{define "x"}}a{{end}}{{template "x"}}`:  "template is not allowed",
		"{{if gt .Title 1}}x{{end}}": "error calling gt: incompatible types for comparison: " +
			"string and int",
		"a {{shout .Name}}": `function "shout" not defined`,
		"{{and (eq .Title (upper (printf))) (not .Title)}}": `there is no function "printf"`,
	} {
		_, err := Template{Topic: notify.Reminder, Channel: delivery.SMS, Locale: "en", Body: body}.Check()
		test.StrHasSuffix(t, " of body: "+want+".", strings.TrimPrefix(err.Error(), "TEMPLATE_INVALID: "))
	}
	out := expect.Value(Render(
		Template{Channel: delivery.Push, Locale: "en", Subject: "x", Body: "\n a \n"}, Values{}, brand.Brand{}, Foot{},
	))(t)
	test.EqOp(t, "a", out.Text)
	test.EqOp(t, "", NoAnswer.Text("x", "de"))
	test.StrHasPrefix(t, strings.Repeat("x", 27)+".:", Helped.Text(strings.Repeat("x", 40), "en"))
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
		template := Template{Topic: notify.Reminder, Channel: delivery.Email, Locale: "en", Subject: "Soon", Body: "Soon"}
		*map[string]*string{"subject": &template.Subject, "body": &template.Body, "html": &template.HTML}[c.field] = c.text
		_, err := template.Check()
		f, ok := err.(*fault.Error)
		if !ok || f.Reason != fault.TemplateInvalid {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		line, column := f.Metadata["line"], f.Metadata["column"]
		test.EqOp(t, c.line, line, test.Sprint(c.what))
		test.EqOp(t, c.column, column, test.Sprint(c.what))
		test.StrContains(t, f.Message, c.says, test.Sprint(c.what))
		test.EqOp(t, "template."+c.field, f.Field, test.Sprint(c.what))
	}
}

package content

import (
	"testing"
	"unicode/utf8"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// For any text: Check does not panic, a rejection is TEMPLATE_INVALID or names its field, and an accepted template
// renders to text that is not too long.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{
		"Hi {{.Name}}", "{{if .Coach}}with {{.Coach}}{{end}}", "{{with .Title}}{{.}}{{end}}", "{{range .Title}}{{end}}",
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`,
		"{{printf \"%999999999d\" 1}}", "{{.Name.Foo}}", "{{/*", "{{\"}}\"}}",
		"<a href='{{.BookURL}}' onclick='{{.Title}}'>", "<script>{{.Title}}</script>",
		"{{$x := .Title}}{{$x}}", "{{1}}{{2}}", "{{- .Title -}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, made := range []Template{
			{Topic: notify.Reminder, Channel: delivery.SMS, Locale: "en", Body: text},
			{Topic: notify.Reminder, Channel: delivery.Email, Locale: "de", Subject: text, Body: text, HTML: text},
		} {
			checked, err := made.Check()
			if err != nil {
				reason := fault.ReasonOf(err)
				must.True(t, reason == fault.TemplateInvalid || reason == fault.InvalidField, must.Sprint(err))
				continue
			}
			out := expect.Value(Render(
				checked, Example(notify.Reminder, checked.Locale), brand.Brand{},
				Foot{Unsubscribe: "https://berth.example/unsubscribe/x"},
			))(t)
			must.True(t, !utf8.ValidString(text) || utf8.ValidString(out.Text))
			must.LessEq(t, 4*maxRendered, len(out.Text)+len(out.HTML))
		}
	})
}

package content

import (
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestRender_LinksAndEndsMails(t *testing.T) {
	t.Parallel()
	mail := Template{
		Topic: notify.Reminder, Channel: delivery.Email, Locale: "en", Subject: " a \n b",
		Body: "One\n\n\n\nTwo  \nhttps://a",
	}
	out := expect.Value(Render(mail, Example(notify.Reminder, "en"), brand.Brand{}, Foot{Unsubscribe: "https://u"}))(t)
	test.EqOp(t, "a b", out.Subject)
	test.EqOp(t, "One\n\nTwo\nhttps://a\n\n-- \nUnsubscribe from mails of this kind: https://u", out.Text)
	for _, part := range []string{
		`<html lang="en">`, "<title>a b</title>", ">One</p>", "Two<br>", `href="https://a"`, ">Open</a>", `href="https://u"`,
		">Unsubscribe from mails of this kind</a>", "background:#0b6bcb;color:#ffffff", "border:1px solid #0b6bcb",
	} {
		test.StrContains(t, out.HTML, part)
	}
	mail.Body = "See: https://a\nhttps://b"
	out = expect.Value(Render(mail, Example(notify.Reminder, "en"), brand.Brand{}, Foot{}))(t)
	test.EqOp(t, "See: https://a\nhttps://b", out.Text)
	test.StrContains(t, out.HTML, ">See</a>")
	test.EqOp(t, 1, strings.Count(out.HTML, "display:inline-block")) // the first link is the button
	test.EqOp(t, 1, strings.Count(out.HTML, `style="color:#0b6bcb"`))
	push := Template{Topic: notify.Offered, Channel: delivery.Push, Locale: "en", Subject: "a", Body: "b"}
	for _, tt := range []struct {
		values Values
		link   string
	}{
		{Values{"ClaimURL": "https://c", "Link": "https://l"}, "https://c"}, {Values{"Link": "https://l"}, "https://l"}, {},
	} {
		test.Eq(t, Rendered{Subject: "a", Text: "b", Link: tt.link},
			expect.Value(Render(push, tt.values, brand.Brand{}, Foot{Unsubscribe: "https://u"}))(t))
	}
}

func TestRender_EscapesHTMLAndJoinsSubjectLines(t *testing.T) {
	t.Parallel()
	text := Template{
		Topic: notify.Reminder, Channel: delivery.Email, Locale: "en", Subject: "{{.Title}}", Body: "{{.Title}}",
	}
	html := text
	html.HTML = `<p title="{{.Title}}">{{.Title}}</p>`
	for _, tpl := range []Template{html, text} {
		values := Example(notify.Reminder, "en")
		values["Title"] = "<script>alert(1)</script>\r\nBcc: x@example.com"
		out := expect.Value(Render(tpl, values, brand.Brand{}, Foot{}))(t)
		test.StrNotContains(t, out.HTML, "<script", test.Sprint("not escaped"))
		test.False(t, strings.ContainsAny(out.Subject, "\r\n"), test.Sprintf("a subject of several lines: %q", out.Subject))
	}
}

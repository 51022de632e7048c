package notify

import (
	"bytes"
	htmltemplate "html/template"
	"regexp"
	"strings"
)

// Rendered is a message as its recipient gets it.
type Rendered struct {
	Subject  string `json:"subject,omitempty"` // email's subject, push's title
	Text     string `json:"text"`
	HTML     string `json:"html,omitempty"`     // email
	Link     string `json:"link,omitempty"`     // push
	Calendar string `json:"calendar,omitempty"` // email: an iCalendar object
	Segments int    `json:"segments,omitempty"` // SMS
	GSM7     bool   `json:"gsm7,omitempty"`     // SMS
}

// Render puts values into a template. Mails get HTML where the template has none, and end with the way
// to unsubscribe, if one is given. Text messages are kept to one segment where that can be. Errors: TEMPLATE_INVALID.
func Render(t Template, values Values, unsubscribe string) (Rendered, error) {
	if t.Channel == SMS {
		return renderSMS(t, values)
	}
	f, err := t.fill(values)
	if err != nil {
		return Rendered{}, err
	}
	out := Rendered{Subject: f.Subject, Text: tidy(f.Body), HTML: f.HTML}
	if t.Channel == Push {
		for _, name := range []string{"ClaimURL", "Link"} {
			if link, _ := values[name].(string); link != "" {
				out.Link = link
				break
			}
		}
		return out, nil
	}
	w := wordsFor(t.Locale)
	if out.HTML == "" {
		out.HTML, err = layOut(t.Locale, out.Subject, out.Text, w, unsubscribe)
	}
	if unsubscribe != "" {
		out.Text += "\n\n-- \n" + w.unsubscribe + ": " + unsubscribe
	}
	return out, err
}

var (
	trailing = regexp.MustCompile(`[ \t]+(\n|$)`)
	gaps     = regexp.MustCompile(`\n{3,}`)
)

// tidy takes out what conditions left empty.
func tidy(text string) string {
	return strings.TrimSpace(gaps.ReplaceAllString(trailing.ReplaceAllString(text, "$1"), "\n\n"))
}

// page is what a mail looks like that has no HTML of its own.
var page = htmltemplate.Must(htmltemplate.New("mail").Parse(`<!doctype html>
<html lang="{{.Locale}}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px;background:#f4f5f7;color:#1b1f24;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px">
{{range .Blocks}}<p style="margin:0 0 16px">{{range $at, $line := .}}{{if $at}}<br>{{end}}{{$line.Text}}{{if $line.Link}}<a href="{{$line.Link}}" style="{{if $line.Button}}display:inline-block;padding:10px 20px;border-radius:6px;background:#0b6bcb;color:#fff;text-decoration:none{{else}}color:#0b6bcb{{end}}">{{$line.Shown}}</a>{{end}}{{end}}</p>
{{end}}</div>
{{if .Unsubscribe}}<p style="max-width:560px;margin:16px auto;text-align:center;font-size:13px;color:#5c6570"><a href="{{.Unsubscribe}}" style="color:#5c6570">{{.Words}}</a></p>
{{end}}</body>
</html>
`))

// line is one of a mail's, with the link at its end.
type line struct {
	Text, Link, Shown string
	Button            bool // the one link that wants to be pressed
}

var atEnd = regexp.MustCompile(`^(.*?)(?:: | ?)(https?://\S+)$`)

func layOut(locale, subject, text string, w words, unsubscribe string) (string, error) {
	var blocks [][]line
	button := true // the first link is what the mail is for
	for block := range strings.SplitSeq(text, "\n\n") {
		var lines []line
		for raw := range strings.SplitSeq(block, "\n") {
			l := line{Text: raw}
			if parts := atEnd.FindStringSubmatch(raw); parts != nil {
				l = line{Link: parts[2], Shown: parts[1]}
				if l.Shown == "" {
					l.Shown = w.open
				}
				l.Button, button = button, false
			}
			lines = append(lines, l)
		}
		blocks = append(blocks, lines)
	}
	var out bytes.Buffer
	err := page.Execute(&out, map[string]any{
		"Locale": locale, "Subject": subject, "Blocks": blocks, "Unsubscribe": unsubscribe, "Words": w.unsubscribe,
	})
	return out.String(), err
}

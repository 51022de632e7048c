package notify

import (
	"regexp"
	"strings"

	"github.com/berthhq/berth/internal/rules/brand"
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

// Render puts values into a template. Mails get HTML in the tenant's look where the template has none, and end with the way
// to unsubscribe, if one is given. Text messages are kept to one segment where that can be. Errors: TEMPLATE_INVALID.
func Render(t Template, values Values, look brand.Brand, unsubscribe string) (Rendered, error) {
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
		house, _ := values["Tenant"].(string)
		l := letter{
			Locale: t.Locale, Subject: out.Subject, House: house, Logo: look.LogoURL, Paint: paintOf(look),
			Unsubscribe: unsubscribe, Stop: w.unsubscribe, open: w.open,
		}
		out.HTML, err = l.layOut(out.Text)
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

package notify

import (
	"regexp"
	"strings"

	"github.com/berthhq/berth/internal/rules/brand"
)

// Rendered is the content of a message.
type Rendered struct {
	Subject  string `json:"subject,omitempty"` // email's subject, push's title
	Text     string `json:"text"`
	HTML     string `json:"html,omitempty"`     // email
	Link     string `json:"link,omitempty"`     // push
	Calendar string `json:"calendar,omitempty"` // email: an iCalendar object
	Segments int    `json:"segments,omitempty"` // SMS
	GSM7     bool   `json:"gsm7,omitempty"`     // SMS
}

// Render fills in a template. A mail whose template has no HTML gets HTML with the tenant's logo and color, and ends
// with the unsubscribe link, if there is one. Text messages are shortened to one segment if possible. The error is
// TEMPLATE_INVALID.
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
	l := localeFor(t.Locale)
	if out.HTML == "" {
		name, _ := values["Tenant"].(string)
		page := mailPage{
			Locale: t.Locale, Subject: out.Subject, Tenant: name, Logo: look.LogoURL, Palette: paletteOf(look),
			Unsubscribe: unsubscribe, UnsubscribeLabel: l.unsubscribe, openLabel: l.open,
		}
		out.HTML, err = page.render(out.Text)
	}
	if unsubscribe != "" {
		out.Text += "\n\n-- \n" + l.unsubscribe + ": " + unsubscribe
	}
	return out, err
}

var (
	trailingSpace = regexp.MustCompile(`[ \t]+(\n|$)`)
	emptyLines    = regexp.MustCompile(`\n{3,}`)
)

// tidy removes the empty lines and spaces that conditions leave.
func tidy(text string) string {
	return strings.TrimSpace(emptyLines.ReplaceAllString(trailingSpace.ReplaceAllString(text, "$1"), "\n\n"))
}

package content

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
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

// Foot is what a mail says below its text.
type Foot struct {
	Unsubscribe string // URL; empty: none
	// Platform is set if the platform's account sends the mail. It then names the tenant, and has no HTML of the tenant's.
	Platform bool
	Report   string // to whom misuse of the platform's account is reported; can be empty
}

// Render fills in a template. A mail whose template has no HTML gets HTML with the tenant's logo and color. It ends
// with the foot. Text messages are shortened to one segment if possible. The error is TEMPLATE_INVALID.
func Render(t Template, values Values, b brand.Brand, foot Foot) (Rendered, error) {
	if t.Channel == delivery.SMS {
		return renderSMS(t, values)
	}
	if foot.Platform {
		t.HTML = ""
	}
	f, err := t.fill(values)
	if err != nil {
		return Rendered{}, err
	}
	out := Rendered{Subject: f.Subject, Text: tidy(f.Body), HTML: f.HTML}
	if t.Channel == delivery.Push {
		for _, name := range []string{"ClaimURL", "Link"} {
			if link, _ := values[name].(string); link != "" {
				out.Link = link
				break
			}
		}
		return out, nil
	}
	l := localeFor(t.Locale)
	name, _ := values["Tenant"].(string)
	sent, report := foot.lines(l, name)
	if out.HTML == "" {
		page := mailPage{
			Locale: t.Locale, Subject: out.Subject, Tenant: name, Logo: b.LogoURL, Palette: paletteOf(b),
			Unsubscribe: foot.Unsubscribe, UnsubscribeLabel: l.unsubscribe, openLabel: l.open,
			Sent: sent, Report: report,
		}
		out.HTML, err = page.render(out.Text)
	}
	var lines []string
	for _, line := range []string{sent, report} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	if foot.Unsubscribe != "" {
		lines = append(lines, l.unsubscribe+": "+foot.Unsubscribe)
	}
	if len(lines) > 0 {
		out.Text += "\n\n-- \n" + strings.Join(lines, "\n")
	}
	return out, err
}

// lines say for whom the platform's account sends a mail, and to whom misuse is reported.
func (f Foot) lines(l locale, tenant string) (sent, report string) {
	if !f.Platform {
		return "", ""
	}
	if f.Report != "" {
		report = fmt.Sprintf(l.report, f.Report)
	}
	return fmt.Sprintf(l.sentFor, tenant), report
}

var (
	trailingSpace = regexp.MustCompile(`[ \t]+(\n|$)`)
	emptyLines    = regexp.MustCompile(`\n{3,}`)
)

// tidy removes the empty lines and spaces that conditions leave.
func tidy(text string) string {
	return strings.TrimSpace(emptyLines.ReplaceAllString(trailingSpace.ReplaceAllString(text, "$1"), "\n\n"))
}

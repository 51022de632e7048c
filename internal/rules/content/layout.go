package content

import (
	"bytes"
	htmltemplate "html/template"
	"regexp"
	"strings"

	"github.com/berthhq/berth/internal/rules/brand"
)

// mailPage is the data of the HTML page of a mail whose template has no HTML.
type mailPage struct {
	Locale, Subject  string
	Tenant           string // the tenant's name; empty: no header
	Logo             string // replaces the name, which is then shown only if images are blocked
	Palette          palette
	Paragraphs       [][]line
	Unsubscribe      string // URL
	UnsubscribeLabel string
	Sent, Report     string // lines at the end; can be empty

	openLabel string // of a link without text
}

// palette has the colors of a mail, as #rrggbb. The background is white in dark mode too, because mail clients handle
// dark styles too differently.
type palette struct {
	Bar                      string // above the header; empty: no bar
	Link                     string // text on white
	Button, ButtonText, Edge string // of a button; Edge is its border
}

// defaultPalette is for tenants without an accent color.
var defaultPalette = palette{Link: "#0b6bcb", Button: "#0b6bcb", ButtonText: "#ffffff", Edge: "#0b6bcb"}

func paletteOf(b brand.Brand) palette {
	accent, ok := brand.ParseColor(b.Accent)
	if !ok {
		return defaultPalette
	}
	edge := accent.ReadableOn(brand.White, brand.MinShapeContrast).String()
	return palette{
		Bar: edge, Link: accent.ReadableOn(brand.White, brand.MinTextContrast).String(),
		Button: accent.String(), ButtonText: accent.TextColor().String(), Edge: edge,
	}
}

// The logo has a height attribute for Outlook, which ignores max-height. The font in its style is for the alt text,
// which clients show if images are blocked.
var mailTemplate = htmltemplate.Must(htmltemplate.New("mail").Parse(`<!doctype html>
<html lang="{{.Locale}}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px;background:#f4f5f7;color:#1b1f24;` +
	`font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px` +
	`{{with .Palette.Bar}};border-top:4px solid {{.}}{{end}}">
{{with .Tenant}}<p style="margin:0 0 20px;font-size:18px;line-height:1.3;font-weight:600;color:#1b1f24">` +
	`{{if $.Logo}}<img src="{{$.Logo}}" alt="{{.}}" height="48" style="height:auto;max-height:48px;width:auto;` +
	`max-width:100%;border:0;vertical-align:bottom;font-size:18px;font-weight:600;color:#1b1f24">` +
	`{{else}}{{.}}{{end}}</p>
{{end}}{{range .Paragraphs}}<p style="margin:0 0 16px">{{range $at, $line := .}}{{if $at}}<br>{{end}}{{$line.Text}}` +
	`{{if $line.Link}}<a href="{{$line.Link}}" style="` +
	`{{if $line.Button}}display:inline-block;padding:9px 19px;border:1px solid {{$.Palette.Edge}};border-radius:6px;` +
	`background:{{$.Palette.Button}};color:{{$.Palette.ButtonText}};text-decoration:none` +
	`{{else}}color:{{$.Palette.Link}}{{end}}">{{$line.LinkText}}</a>{{end}}{{end}}</p>
{{end}}</div>
{{if .Unsubscribe}}<p style="max-width:560px;margin:16px auto;text-align:center;font-size:13px;color:#5c6570">` +
	`<a href="{{.Unsubscribe}}" style="color:#5c6570">{{.UnsubscribeLabel}}</a></p>
{{end}}{{with .Sent}}<p style="max-width:560px;margin:16px auto;text-align:center;font-size:13px;color:#5c6570">` +
	`{{.}}{{with $.Report}}<br>{{.}}{{end}}</p>
{{end}}</body>
</html>
`))

// line is a line of a mail. It has either text or a link.
type line struct {
	Text, Link, LinkText string
	Button               bool // show the link as a button
}

var linkAtEnd = regexp.MustCompile(`^(.*?)(?:: | ?)(https?://\S+)$`)

// render makes HTML from a mail's text.
func (p mailPage) render(text string) (string, error) {
	button := true // the first link is the purpose of the mail
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var lines []line
		for raw := range strings.SplitSeq(paragraph, "\n") {
			l := line{Text: raw}
			if parts := linkAtEnd.FindStringSubmatch(raw); parts != nil {
				l = line{Link: parts[2], LinkText: parts[1]}
				if l.LinkText == "" {
					l.LinkText = p.openLabel
				}
				l.Button, button = button, false
			}
			lines = append(lines, l)
		}
		p.Paragraphs = append(p.Paragraphs, lines)
	}
	var out bytes.Buffer
	err := mailTemplate.Execute(&out, p)
	return out.String(), err
}

package notify

import (
	"bytes"
	htmltemplate "html/template"
	"regexp"
	"strings"

	"github.com/berthhq/berth/internal/rules/brand"
)

// letter is what a mail looks like that has no HTML of its own.
type letter struct {
	Locale, Subject   string
	House             string // the tenant's name; empty: there is no head
	Logo              string // stands for the name, which is read where pictures are not shown
	Paint             paint
	Blocks            [][]line
	Unsubscribe, Stop string // a link, and what it is called

	open string // what a link is called that has no text
}

// paint are the colors of a mail, as #rrggbb. Its paper is white in dark mode, too: what mail programs make of
// dark styles is anybody's guess.
type paint struct {
	Bar                   string // over the head; empty: there is none
	Link                  string // text on white
	Button, Written, Edge string // a button, what is written on it, and its border
}

// unpainted is Berth's own.
var unpainted = paint{Link: "#0b6bcb", Button: "#0b6bcb", Written: "#ffffff", Edge: "#0b6bcb"}

func paintOf(look brand.Brand) paint {
	accent, ok := brand.ParseColor(look.Accent)
	if !ok {
		return unpainted
	}
	edge := accent.Against(brand.White, brand.ForShapes).String()
	return paint{
		Bar: edge, Link: accent.Against(brand.White, brand.ForText).String(),
		Button: accent.String(), Written: accent.On().String(), Edge: edge,
	}
}

// The logo's height is an attribute for Outlook, which knows no max-height. Its style is what its text looks
// like where pictures are not shown.
var page = htmltemplate.Must(htmltemplate.New("mail").Parse(`<!doctype html>
<html lang="{{.Locale}}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px;background:#f4f5f7;color:#1b1f24;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px{{with .Paint.Bar}};border-top:4px solid {{.}}{{end}}">
{{with .House}}<p style="margin:0 0 20px;font-size:18px;line-height:1.3;font-weight:600;color:#1b1f24">{{if $.Logo}}<img src="{{$.Logo}}" alt="{{.}}" height="48" style="height:auto;max-height:48px;width:auto;max-width:100%;border:0;vertical-align:bottom;font-size:18px;font-weight:600;color:#1b1f24">{{else}}{{.}}{{end}}</p>
{{end}}{{range .Blocks}}<p style="margin:0 0 16px">{{range $at, $line := .}}{{if $at}}<br>{{end}}{{$line.Text}}{{if $line.Link}}<a href="{{$line.Link}}" style="{{if $line.Button}}display:inline-block;padding:9px 19px;border:1px solid {{$.Paint.Edge}};border-radius:6px;background:{{$.Paint.Button}};color:{{$.Paint.Written}};text-decoration:none{{else}}color:{{$.Paint.Link}}{{end}}">{{$line.Shown}}</a>{{end}}{{end}}</p>
{{end}}</div>
{{if .Unsubscribe}}<p style="max-width:560px;margin:16px auto;text-align:center;font-size:13px;color:#5c6570"><a href="{{.Unsubscribe}}" style="color:#5c6570">{{.Stop}}</a></p>
{{end}}</body>
</html>
`))

// line is one of a mail's, with the link at its end.
type line struct {
	Text, Link, Shown string
	Button            bool // the one link that wants to be pressed
}

var atEnd = regexp.MustCompile(`^(.*?)(?:: | ?)(https?://\S+)$`)

// layOut makes HTML of a mail's text.
func (l letter) layOut(text string) (string, error) {
	button := true // the first link is what the mail is for
	for block := range strings.SplitSeq(text, "\n\n") {
		var lines []line
		for raw := range strings.SplitSeq(block, "\n") {
			one := line{Text: raw}
			if parts := atEnd.FindStringSubmatch(raw); parts != nil {
				one = line{Link: parts[2], Shown: parts[1]}
				if one.Shown == "" {
					one.Shown = l.open
				}
				one.Button, button = button, false
			}
			lines = append(lines, one)
		}
		l.Blocks = append(l.Blocks, lines)
	}
	var out bytes.Buffer
	err := page.Execute(&out, l)
	return out.String(), err
}

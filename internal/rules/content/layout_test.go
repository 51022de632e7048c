package content

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// header is the tenant's name above a mail. The name is also at the end of the text.
const header = `color:#1b1f24">Harbour Yoga</p>`

const logo = "https://cdn.example.com/logo.svg?a=1&b=2"

// html renders the default mail of a topic with a brand.
func html(t must.T, topic notify.Topic, values Values, b brand.Brand) string {
	tpl, ok := DefaultTemplate(topic, delivery.Email, "en")
	must.True(t, ok, must.Sprint("no template of", topic))
	return expect.Value(Render(tpl, values, b, Foot{Unsubscribe: "https://berth.example/unsubscribe/x"}))(t).HTML
}

func TestRender_EveryMailHasTheTenantsLogoAndColor(t *testing.T) {
	t.Parallel()
	for _, topic := range notify.Topics() {
		values := Example(topic, "en")
		for name, c := range map[string]struct {
			look       brand.Brand
			want, none []string
		}{
			"neither": {brand.Brand{}, []string{header}, []string{"<img", "border-top"}},
			"logo": {
				brand.Brand{LogoURL: logo},
				[]string{
					`<img src="https://cdn.example.com/logo.svg?a=1&amp;b=2" alt="Harbour Yoga" height="48"`,
					"max-height:48px",
				},
				[]string{header, "border-top"},
			},
			"color": {
				brand.Brand{Accent: "#B83280"},
				[]string{header, "border-top:4px solid #b83280"}, []string{"<img", "#0b6bcb"},
			},
			"both": {
				brand.Brand{LogoURL: logo, Accent: "#ffd400"},
				[]string{"<img", "border-top:4px solid #a68a00"}, []string{"#0b6bcb"},
			},
		} {
			got := html(t, topic, values, c.look)
			for _, want := range c.want {
				test.StrContains(t, got, want, test.Sprintf("%s, %s: no %q in\n%s", topic, name, want, got))
			}
			for _, none := range c.none {
				test.StrNotContains(t, got, none, test.Sprintf("%s, %s: %q in\n%s", topic, name, none, got))
			}
			test.StrNotContains(t, got, "ZgotmplZ", test.Sprintf("%s, %s: the template engine rejected a value in", topic, name))
		}
	}
}

func TestRender_ButtonsAndLinksStayReadable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.Uint8()
		accent := brand.Color{R: part.Draw(t, "r"), G: part.Draw(t, "g"), B: part.Draw(t, "b")}
		got := html(t, notify.Offered, Example(notify.Offered, "en"), brand.Brand{Accent: accent.String()})
		want := fmt.Sprintf("background:%s;color:%s;", accent, accent.TextColor())
		test.StrContains(t, got, want, test.Sprintf("no %q in\n%s", want, got))
		if p := paletteOf(brand.Brand{Accent: accent.String()}); p.Link != accent.String() {
			c, _ := brand.ParseColor(p.Link)
			test.True(t, c.Contrast(brand.White) >= brand.MinTextContrast, test.Sprintf("links are %s", p.Link))
		} else if accent.Contrast(brand.White) < brand.MinTextContrast {
			t.Errorf("links are %s", accent)
		}
	})
}

func TestRender_EscapesTheTenantsName(t *testing.T) {
	t.Parallel()
	values := Example(notify.Reminder, "en")
	values["Tenant"] = `"><script>alert(1)</script>`
	for _, b := range []brand.Brand{{}, {LogoURL: logo}} {
		got := html(t, notify.Reminder, values, b)
		test.StrNotContains(t, got, "<script", test.Sprintf("not escaped:\n%s", got))
		test.StrNotContains(t, got, `alt=""`, test.Sprintf("not escaped:\n%s", got))
	}
}

// The platform's mails say for whom they are, in the text and in HTML, and a name cannot add markup to that.
func TestRender_FramesMailsOfThePlatform(t *testing.T) {
	t.Parallel()
	mail := Template{
		Topic: notify.Reminder, Channel: delivery.Email, Locale: "en", Subject: "x", Body: "Hello", HTML: "<b>Hello</b>",
	}
	values := Example(notify.Reminder, "en")
	values["Tenant"] = "A & <b>B</b>"
	for name, c := range map[string]struct {
		foot       Foot
		text, html string
	}{
		"own account": {Foot{}, "Hello", "<b>Hello</b>"},
		"platform": {
			Foot{Platform: true, Report: "abuse@example.com"},
			"Hello\n\n-- \nSent for A & <b>B</b> through Berth’s account.\nReport misuse to abuse@example.com",
			"Sent for A &amp; &lt;b&gt;B&lt;/b&gt; through Berth’s account.<br>Report misuse to abuse@example.com</p>",
		},
		"platform without an address": {
			Foot{Platform: true}, "Hello\n\n-- \nSent for A & <b>B</b> through Berth’s account.", "account.</p>",
		},
	} {
		out := expect.Value(Render(mail, values, brand.Brand{}, c.foot))(t)
		test.EqOp(t, c.text, out.Text, test.Sprint(name))
		test.StrContains(t, out.HTML, c.html, test.Sprint(name))
		test.EqOp(t, c.foot.Platform, !strings.Contains(out.HTML, "<b>Hello</b>"), test.Sprint(name))
	}
}

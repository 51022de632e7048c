package notify

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/brand"
)

// header is the tenant's name above a mail. The name is also at the end of the text.
const header = `color:#1b1f24">Harbour Yoga</p>`

const logo = "https://cdn.example.com/logo.svg?a=1&b=2"

// html renders the default mail of a topic with a brand.
func html(t interface{ Fatal(...any) }, topic Topic, values Values, look brand.Brand) string {
	tpl, ok := DefaultTemplate(topic, Email, "en")
	if !ok {
		t.Fatal("no template of", topic)
	}
	out, err := Render(tpl, values, look, "https://berth.example/unsubscribe/x")
	if err != nil {
		t.Fatal(err)
	}
	return out.HTML
}

func TestRender_EveryMailHasTheTenantsLogoAndColor(t *testing.T) {
	t.Parallel()
	for _, topic := range Topics() {
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
				if !strings.Contains(got, want) {
					t.Errorf("%s, %s: no %q in\n%s", topic, name, want, got)
				}
			}
			for _, none := range c.none {
				if strings.Contains(got, none) {
					t.Errorf("%s, %s: %q in\n%s", topic, name, none, got)
				}
			}
			if strings.Contains(got, "ZgotmplZ") {
				t.Errorf("%s, %s: the template engine rejected a value in\n%s", topic, name, got)
			}
		}
	}
}

func TestRender_ButtonsAndLinksStayReadable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.Uint8()
		accent := brand.Color{R: part.Draw(t, "r"), G: part.Draw(t, "g"), B: part.Draw(t, "b")}
		got := html(t, Offered, Example(Offered, "en"), brand.Brand{Accent: accent.String()})
		want := fmt.Sprintf("background:%s;color:%s;", accent, accent.TextColor())
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
		if p := paletteOf(brand.Brand{Accent: accent.String()}); p.Link != accent.String() {
			if c, _ := brand.ParseColor(p.Link); brand.Contrast(c, brand.White) < brand.MinTextContrast {
				t.Errorf("links are %s", p.Link)
			}
		} else if brand.Contrast(accent, brand.White) < brand.MinTextContrast {
			t.Errorf("links are %s", accent)
		}
	})
}

func TestRender_EscapesTheTenantsName(t *testing.T) {
	t.Parallel()
	values := Example(Reminder, "en")
	values["Tenant"] = `"><script>alert(1)</script>`
	for _, look := range []brand.Brand{{}, {LogoURL: logo}} {
		if got := html(t, Reminder, values, look); strings.Contains(got, "<script") || strings.Contains(got, `alt=""`) {
			t.Errorf("not escaped:\n%s", got)
		}
	}
}

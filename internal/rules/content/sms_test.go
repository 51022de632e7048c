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

// Long names are cut until the message fits one segment. If that is not enough, they stay complete.
func TestRender_ShortensEveryName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for _, name := range []string{
		"Title", "Location", "Tenant", "Plan", "Note", "Reason", "Name", "Coach", "Resource", "Address",
	} {
		out := expect.Value(Render(
			Template{Channel: delivery.SMS, Locale: "en", Body: "{{." + name + "}}"},
			Values{name: long}, brand.Brand{}, Foot{}))(t)
		test.Eq(t, Rendered{Text: strings.Repeat("x", 39) + ".", Segments: 1, GSM7: true}, out, test.Sprint(name))
	}
	for filler, length := range map[int]int{
		120: 40, 121: 28, 132: 28, 133: 20, 140: 20, 141: 14, 146: 14, 147: 10, 150: 10, 151: 7, 153: 7, 154: 5, 155: 5,
	} {
		out := expect.Value(Render(Template{Channel: delivery.SMS, Body: strings.Repeat("a", filler) + "{{.Title}}"},
			Values{"Title": long}, brand.Brand{}, Foot{}))(t)
		test.EqOp(t, strings.Repeat("a", filler)+strings.Repeat("x", length-1)+".", out.Text)
	}
	tooLong := Template{Channel: delivery.SMS, Body: strings.Repeat("a", 156) + "{{.Title}}"}
	out := expect.Value(Render(tooLong, Values{"Title": long}, brand.Brand{}, Foot{}))(t)
	test.EqOp(t, 356, len(out.Text))
	whole := Values{"Title": strings.Repeat("x", 160)}
	out = expect.Value(Render(Template{Channel: delivery.SMS, Body: "{{.Title}}"}, whole, brand.Brand{}, Foot{}))(t)
	test.EqOp(t, whole["Title"].(string), out.Text)
	expect.Fault(t, "TEMPLATE_INVALID @template.body column=3 line=1")(
		Render(Template{Channel: delivery.SMS, Body: "{{.Nxme}}"}, Values{}, brand.Brand{}, Foot{}),
	)
}

func TestRender_ShortensTextMessagesToOneSegment(t *testing.T) {
	t.Parallel()
	for _, locale := range DefaultLocales() {
		wantOneSegment(t, locale)
	}
}

func wantOneSegment(t *testing.T, locale string) {
	t.Helper()
	values := Example(notify.Offered, locale)
	values["When"] = values["When"].(string) + " (WEST)"
	values["Title"] = "Atelier découverte de la méditation guidée « pleine conscience » niveau débutant avec Œuvre"
	values["Tenant"] = "Maison du Bien-être à Neuilly"
	values["ClaimURL"] = "https://book.berth.example/claim/Zk3vJ0c1QmW8sXyT4nLpBg"
	tpl, _ := DefaultTemplate(notify.Offered, delivery.SMS, locale)
	out := expect.Value(Render(tpl, values, brand.Brand{}, Foot{}))(t)
	test.EqOp(t, 1, out.Segments, test.Sprintf("%d segments: %q", out.Segments, out.Text))
	test.True(t, out.GSM7, test.Sprintf("%d segments: %q", out.Segments, out.Text))
	for _, must := range []string{"1 4821", "2 4821", values["ClaimURL"].(string), values["ExpiresAt"].(string)} {
		test.StrContains(t, out.Text, must, test.Sprintf("%q was cut out of %q", must, out.Text))
	}
	values["Title"] = "瞑想"
	out = expect.Value(Render(tpl, values, brand.Brand{}, Foot{}))(t)
	test.False(t, out.GSM7, test.Sprintf("another script: %+v", out))
	test.StrContains(t, out.Text, "瞑想", test.Sprintf("another script: %+v", out))
}

package content

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestChoose_FallsBackToTheLanguageAndThenToEnglish(t *testing.T) {
	t.Parallel()
	test.Eq(t, Template{Topic: "UNKNOWN", Channel: delivery.SMS, Locale: "en"}, Choose(nil, "UNKNOWN", delivery.SMS, "fr"))
	for name, want := range map[string]string{
		"zh-TW": "zh-TW zh-Hant zh", "zh-Hant": "zh-Hant zh", "de": "de", "english!": "", "und": "",
	} {
		test.EqOp(t, want, strings.Join(fallbacks(name), " "), test.Sprint(name))
	}
	for name, want := range map[string]string{
		"english!": "15:04", "en": "15:04", "en-US": "3:04 PM", "en-AU": "15:04", "es-US": "15:04", "de": "15:04",
	} {
		test.EqOp(t, want, localeFor(name).timeLayout, test.Sprint(name))
	}
	test.EqOp(t, "So", localeFor("de").days[0])
	for name, want := range map[string]string{
		"Europe/Berlin": "CEST", "Asia/Dubai": "UTC+04:00", "America/Sao_Paulo": "UTC-03:00", "UTC": "UTC",
	} {
		test.EqOp(t, want, abbreviation(exampleStart, zone(t, name)))
	}
	test.EqOp(t, "in 31 minutes", english.span(31*time.Minute))
}

func TestDefaultTemplate_ExistsForEveryTopicLanguageAndChannel(t *testing.T) {
	t.Parallel()
	for _, locale := range DefaultLocales() {
		for _, topic := range notify.Topics() {
			for _, c := range delivery.Channels() {
				made, ok := DefaultTemplate(topic, c, locale)
				if !ok {
					t.Errorf("%s by %s in %s: none", topic, c, locale)
					continue
				}
				test.NoError(t, expect.Error(made.Check()), test.Sprintf("%s by %s in %s", topic, c, locale))
				out := expect.Value(Render(
					made, Example(topic, locale), brand.Brand{}, Foot{Unsubscribe: "https://berth.example/unsubscribe/x"},
				))(t)
				where := test.Sprintf("%s by %s in %s: %+v", topic, c, locale, out)
				test.NotEqOp(t, "", out.Text, where)
				test.EqOp(t, c != delivery.SMS, out.Subject != "", where)
				test.EqOp(t, c == delivery.Email, out.HTML != "", where)
				test.False(
					t, c == delivery.SMS && (out.Segments != 1 || !out.GSM7),
					test.Sprintf("%s in %s takes %d segments: %q", topic, locale, out.Segments, out.Text),
				)
				test.StrNotContains(t, out.Text, "\n\n\n", where)
				test.StrNotContains(t, out.Text, "{{", where)
				test.StrNotContains(t, strings.ReplaceAll(out.Text, "-- \n", ""), " \n", where)
			}
		}
	}
}

func TestChoose_PrefersOwnTemplateInTheNearestLocale(t *testing.T) {
	t.Parallel()
	own := []Template{
		{Topic: notify.Reminder, Channel: delivery.SMS, Locale: "pt", Body: "own pt"},
		{Topic: notify.Reminder, Channel: delivery.SMS, Locale: "de-AT", Body: "own de-AT"},
	}
	german, _ := DefaultTemplate(notify.Reminder, delivery.SMS, "de")
	english, _ := DefaultTemplate(notify.Reminder, delivery.SMS, "en")
	for _, c := range []struct {
		locales []string
		want    string
	}{
		{[]string{"pt-BR", "de"}, "own pt"},
		{[]string{"de-AT", "fr"}, "own de-AT"},
		{[]string{"de-CH", "fr"}, german.Body},
		{[]string{"ja", "de"}, german.Body},
		{[]string{"ja", "ko"}, english.Body},
		{[]string{"", ""}, english.Body},
	} {
		test.EqOp(t, c.want, Choose(own, notify.Reminder, delivery.SMS, c.locales...).Body, test.Sprint(c.locales))
	}
}

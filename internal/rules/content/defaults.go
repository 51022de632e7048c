package content

import (
	"slices"

	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
)

// texts are the default texts of a topic for each channel: title and push for push, subject and mail for email. Name is
// what the page to unsubscribe calls the topic; those about which members have no choice have none.
type texts struct{ name, sms, title, push, subject, mail string }

// defaults are the default texts by language.
var defaults = []struct {
	locale string
	texts  map[notify.Topic]texts
}{
	{"en", defaultsEnglish},
	{"de", defaultsGerman},
	{"fr", defaultsFrench},
}

// DefaultLocales returns the languages that have default texts.
func DefaultLocales() []string {
	locales := make([]string, len(defaults))
	for i, d := range defaults {
		locales[i] = d.locale
	}
	return locales
}

// DefaultTemplate returns the default template for exactly this language, or false if there is none.
func DefaultTemplate(t notify.Topic, c delivery.Channel, locale string) (Template, bool) {
	at := slices.Index(DefaultLocales(), locale)
	if at < 0 {
		return Template{}, false
	}
	text, known := defaults[at].texts[t]
	template := Template{Topic: t, Channel: c, Locale: locale}
	switch c {
	case delivery.SMS:
		template.Body = text.sms
	case delivery.Push:
		template.Subject, template.Body = text.title, text.push
	case delivery.Email:
		template.Subject, template.Body = text.subject, text.mail
	}
	return template, known
}

// TopicName returns what people call a topic in one of the languages with default texts, in the middle of a sentence.
func TopicName(t notify.Topic, locale string) string {
	at := slices.Index(DefaultLocales(), locale)
	if at < 0 {
		return ""
	}
	return defaults[at].texts[t].name
}

// Choose picks the template for a recipient: in the first of the locales, which are the recipient's and the tenant's,
// that has one, else in English. For each locale, a regional template comes before that of the language, and the
// tenant's own before the default.
func Choose(own []Template, t notify.Topic, c delivery.Channel, locales ...string) Template {
	for _, locale := range append(slices.Clone(locales), "en") {
		for _, tag := range fallbacks(locale) {
			for _, o := range own {
				if o.Topic == t && o.Channel == c && o.Locale == tag {
					return o
				}
			}
			if d, ok := DefaultTemplate(t, c, tag); ok {
				return d
			}
		}
	}
	return Template{Topic: t, Channel: c, Locale: "en"}
}

// fallbacks returns a locale and its parents, the most specific first: pt-BR, pt.
func fallbacks(locale string) []string {
	tag, err := language.Parse(locale)
	if err != nil {
		return nil
	}
	var tags []string
	base, _ := tag.Base()
	for ; tag != language.Und; tag = tag.Parent() {
		tags = append(tags, tag.String())
	}
	if len(tags) > 0 && !slices.Contains(tags, base.String()) {
		tags = append(tags, base.String())
	}
	return tags
}

// CanonicalLocale returns the canonical form of a locale, as templates use it: "de" for "DE". An invalid locale stays
// as it is.
func CanonicalLocale(locale string) string {
	if tag, err := language.Parse(locale); err == nil {
		return tag.String()
	}
	return locale
}

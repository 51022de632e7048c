package notify

import (
	"slices"

	"golang.org/x/text/language"
)

// wording is what a topic says over each channel.
type wording struct{ sms, title, push, subject, mail string }

// defaults are the texts that come with the service, by language.
var defaults = []struct {
	locale string
	texts  map[Topic]wording
}{
	{"en", defaultsEnglish},
	{"de", defaultsGerman},
	{"fr", defaultsFrench},
}

// DefaultLocales are the languages of the texts that come with the service.
func DefaultLocales() []string {
	locales := make([]string, len(defaults))
	for i, d := range defaults {
		locales[i] = d.locale
	}
	return locales
}

// DefaultTemplate gives the text that comes with the service for a language, exactly, or false where there is none.
func DefaultTemplate(t Topic, c Channel, locale string) (Template, bool) {
	at := slices.Index(DefaultLocales(), locale)
	if at < 0 {
		return Template{}, false
	}
	w, known := defaults[at].texts[t]
	made := Template{Topic: t, Channel: c, Locale: locale}
	switch c {
	case SMS:
		made.Body = w.sms
	case Push:
		made.Subject, made.Body = w.title, w.push
	case Email:
		made.Subject, made.Body = w.subject, w.mail
	}
	return made, known
}

// Choose picks the template for a recipient: in the recipient's language, else in the tenant's, else in
// English; in each of them the tenant's own before what comes with the service, and the country's before the language's.
func Choose(own []Template, t Topic, c Channel, locales ...string) Template {
	for _, locale := range append(slices.Clone(locales), "en") {
		for _, tag := range chain(locale) {
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

// chain gives a locale and those that it belongs to, the nearest first: pt-BR, pt.
func chain(locale string) []string {
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

// CanonicalLocale gives a locale as templates have it: "DE" is "de". What is none stays as it is.
func CanonicalLocale(locale string) string {
	if tag, err := language.Parse(locale); err == nil {
		return tag.String()
	}
	return locale
}

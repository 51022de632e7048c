package web

import (
	"testing"

	"github.com/berthhq/berth/internal/rules/notify"
)

// Whatever a mail is about, the page that stops it can say so in every language.
func TestEveryTopicHasAName(t *testing.T) {
	t.Parallel()
	if len(unsubscribeSpoken) != len(languages) {
		t.Fatalf("%d of %d languages", len(unsubscribeSpoken), len(languages))
	}
	for i, in := range unsubscribeSpoken {
		if in.Lang != languages[i].String() {
			t.Errorf("%s stands at the place of %s", in.Lang, languages[i])
		}
		seen := make(map[string]bool)
		for _, topic := range notify.Topics() {
			if name := in.topics[topic]; name == "" || seen[name] {
				t.Errorf("%s is called %q in %s", topic, name, in.Lang)
			}
			seen[in.topics[topic]] = true
		}
	}
}

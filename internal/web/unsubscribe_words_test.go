package web

import (
	"testing"

	"github.com/berthhq/berth/internal/rules/notify"
)

// The page to unsubscribe names each topic in every language.
func TestUnsubscribeWords_NameEveryTopic(t *testing.T) {
	t.Parallel()
	if len(allUnsubscribeWords) != len(languages) {
		t.Fatalf("%d of %d languages", len(allUnsubscribeWords), len(languages))
	}
	for i, in := range allUnsubscribeWords {
		if in.Lang != languages[i].String() {
			t.Errorf("%s is in the position of %s", in.Lang, languages[i])
		}
		seen := make(map[string]bool)
		for _, topic := range notify.Topics() {
			if name := in.topics[topic]; name == "" || seen[name] {
				t.Errorf("%s has the name %q in %s", topic, name, in.Lang)
			}
			seen[in.topics[topic]] = true
		}
	}
}

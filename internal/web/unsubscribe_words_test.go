package web

import (
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/notify"
)

// The page to unsubscribe names each topic in every language.
func TestUnsubscribeWords_NameEveryTopic(t *testing.T) {
	t.Parallel()
	must.EqOp(t, len(languages), len(allUnsubscribeWords),
		must.Sprintf("%d of %d languages", len(allUnsubscribeWords), len(languages)))
	for i, in := range allUnsubscribeWords {
		test.EqOp(t, languages[i].String(), in.Lang, test.Sprintf("%s is in the position of %s", in.Lang, languages[i]))
		seen := make(map[string]bool)
		for _, topic := range notify.Topics() {
			name := content.TopicName(topic, in.Lang)
			test.NotEqOp(t, "", name, test.Sprintf("%s has the name %q in %s", topic, name, in.Lang))
			test.False(t, seen[name], test.Sprintf("%s has the name %q in %s", topic, name, in.Lang))
			seen[name] = true
		}
	}
}

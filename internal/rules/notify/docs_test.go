package notify

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// The manual says for each topic over which channels its alert is sent by default, and whether it has a mail.
func TestManual_ListsEveryTopicWithItsChannels(t *testing.T) {
	t.Parallel()
	text := string(expect.Value(os.ReadFile("../../../docs/notifications.md"))(t))
	_, table, found := strings.Cut(text, "| topic | alert | mail |\n")
	must.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, topic := range Topics() {
		name := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(string(topic)), "_", " "), "check in", "check-in")
		row := regexp.MustCompile(`(?m)^\| (?:[a-z, -]+, )?` + name + `(?:, [a-z, -]+)?(?: \(.*\))? \| (.*) \| (.*) \|$`).
			FindStringSubmatch(table)
		if row == nil {
			t.Errorf("docs/notifications.md has no row for %q", name)
			continue
		}
		var alert []string
		for _, c := range topic.Channels(Alert) {
			if topic.Default(c) {
				alert = append(alert, map[bool]string{true: "SMS", false: strings.ToLower(string(c))}[c == sms])
			}
		}
		if alert == nil {
			alert = []string{"–"}
		}
		test.EqOp(t, strings.Join(alert, ", "), row[1], test.Sprint(topic))
		test.EqOp(t, slices.Contains(topic.Lanes(), Mail), strings.HasPrefix(row[2], "yes"), test.Sprint(topic))
	}
}

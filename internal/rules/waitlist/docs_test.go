package waitlist

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// readTables returns the table rows of the manual whose first cell is a name in code, by that name.
func readTables(t *testing.T) map[string][]string {
	t.Helper()
	text := expect.Value(os.ReadFile("../../../docs/waitlist.md"))(t)
	rows := make(map[string][]string)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|(.*)\\|$").FindAllStringSubmatch(string(text), -1) {
		cells := strings.Split(row[2], "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows[row[1]] = cells
	}
	return rows
}

// written returns a value as the manual writes it.
func written(value any) string {
	switch v := value.(type) {
	case time.Duration:
		switch {
		case v == 0:
			return "0"
		case v%time.Hour == 0:
			return fmt.Sprintf("%dh", v/time.Hour)
		default:
			return fmt.Sprintf("%dm", v/time.Minute)
		}
	case Mode, After, Order:
		return fmt.Sprintf("`%s`", v)
	case QuietHours:
		return fmt.Sprintf("%02d:%02d–%02d:%02d", v.From.Hour, v.From.Minute, v.Until.Hour, v.Until.Minute)
	case map[string]int:
		return "none"
	case string:
		return "none"
	default:
		return fmt.Sprint(v)
	}
}

func TestManual_ListsEverySettingWithDefaultAndBounds(t *testing.T) {
	t.Parallel()
	rows := readTables(t)
	for name, value := range Defaults().Settings().AuditFields() {
		row, told := rows[name]
		if !told {
			t.Errorf("%s is missing", name)
			continue
		}
		test.EqOp(t, written(value), row[0], test.Sprintf("%s: the default is and the manual says %s", name, row[0]))
	}
	upTo := func(least, most any) string { return written(least) + " to " + written(most) }
	for name, want := range map[string]string{
		"max_queue_size": upTo(1, maxQueueSize), "offer_window": upTo(time.Minute, maxOfferWindow),
		"min_offer_window":     upTo(time.Minute, maxLeastWindow),
		"time_flexibility":     upTo(time.Duration(0), maxFlexibility),
		"max_offers_per_entry": upTo(1, maxOffers) + ", or no limit",
		"max_tries_per_slot":   upTo(1, maxTries) + ", or no limit",
		"stale_after":          upTo(MinStale, maxStale), "base_score": upTo(0, maxBase),
		"early_bird_points_per_day": upTo(0, maxPerDay),
		"early_bird_max_points":     upTo(0, maxEarlyBird), "auto_promote_cutoff": upTo(time.Duration(0), maxCutoff),
		"promotion_grace": upTo(time.Duration(0), maxGrace), "fill_after_start": upTo(time.Duration(0), maxAfterStart),
		"fill_after_start_single": upTo(time.Duration(0), maxAfterStart),
		"sms_min_score":           upTo(0, MaxScore),
		"tier_bonuses":            fmt.Sprintf("0 to %d each, %d tiers", maxBonus, maxTiers),
		"eligibility_expression":  fmt.Sprintf("%d characters", MaxExpression),
		"priority_expression":     fmt.Sprintf("%d characters", MaxExpression),
	} {
		test.EqOp(t, want, rows[name][1],
			test.Sprintf("%s: the bounds are %s, and the manual says %s", name, want, rows[name][1]))
	}
}

func TestManual_ListsEveryVariable(t *testing.T) {
	t.Parallel()
	rows := readTables(t)
	for _, v := range Variables() {
		test.Eq(t, []string{v.Type, v.Doc}, rows[v.Name], test.Sprintf("%s (-want +manual)", v.Name))
	}
	for name := range rows {
		if strings.Contains(name, ".") {
			found := false
			for _, v := range Variables() {
				found = found || v.Name == name
			}
			test.True(t, found, test.Sprintf("there is no %s", name))
		}
	}
}

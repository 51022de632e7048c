package mutate

import (
	"regexp"
	"slices"
	"strings"
)

// harms ranks what a mutant could do to people, the worst first. A mutant has the first rank that fits its kind, its
// package, or a word of its function or of what was changed.
var harms = []struct {
	name     string
	kinds    []Kind
	packages []string
	words    *regexp.Regexp
}{
	{
		name:     "permission, tenant, isolation",
		kinds:    []Kind{DBPolicy, DBSecurity, DBPrivilege},
		packages: []string{"internal/access", "internal/token", "internal/seal", "policy"},
		words: regexp.MustCompile(`(?i)permi|allow|access|tenant_id|\.tenant\b|selfonly|isstaff|must\(|principal|caller|` +
			`owner|secret|signature|\brole|audit|api_?key`),
	},
	{
		name:     "money, credits",
		packages: []string{"internal/rules/credit", "internal/rules/grant", "internal/app/credits"},
		words: regexp.MustCompile(
			`(?i)credit|balance|refund|charge|amount|price|payment|payer|subscription|ledger|quota|currency|unlimited`),
	},
	{
		name:     "capacity",
		packages: []string{"internal/app/seats"},
		words:    regexp.MustCompile(`(?i)capacity|seat|party|overbook|\bhold|stock|reserv|overlap|\bitem`),
	},
	{
		name:     "order of the waitlist",
		packages: []string{"internal/rules/waitlist", "internal/app/waitlists", "internal/data/waitlistdb"},
		words:    regexp.MustCompile(`(?i)waitlist|queue|position|offer|round|promot|order by|waiting`),
	},
	{
		name: "notification",
		packages: []string{
			"internal/rules/notify", "internal/rules/content", "internal/rules/delivery", "internal/app/messages",
			"internal/data/messagedb", "internal/provider/smtp",
			"internal/provider/twilio", "internal/provider/fcm", "internal/provider",
		},
		words: regexp.MustCompile(`(?i)notif|notice|messag|channel|template|email|\bsms|push|quiet|remind`),
	},
	{
		name:     "time",
		packages: []string{"internal/civil", "internal/rules/recurrence"},
		words: regexp.MustCompile(
			`(?i)time\.|duration|deadline|zone|\bdate|\bday|expire|until|before\(|after\(|\bnow|starts|ends|minutes|hours`),
	},
	{name: "rest", words: regexp.MustCompile(``)},
}

// notTenants are words with "tenant" that say nothing about isolation: the types of ids.
var notTenants = regexp.MustCompile(`tenant\.\w+|fault\.\w+`)

// harm returns the rank of a mutant: an index of harms.
func harm(m Mutant) int {
	words := m.Function + " " + notTenants.ReplaceAllString(m.Site+" "+m.Schema, "")
	for i, h := range harms {
		if slices.Contains(h.kinds, m.Kind) {
			return i
		}
		for _, folder := range h.packages {
			if m.Package == folder || strings.HasPrefix(m.Package, folder+"/") {
				return i
			}
		}
		if h.words.MatchString(words) {
			return i
		}
	}
	return len(harms) - 1
}

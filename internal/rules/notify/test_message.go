package notify

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// TestDay is the time within which a member can send maxTests test messages, because they cost the platform money.
const (
	TestDay  = 24 * time.Hour
	maxTests = 20
)

// CheckTests rejects a test message of a member who has sent a number of them within a TestDay, or if there is no room
// below a ceiling: QUOTA_EXCEEDED.
func CheckTests(sent, ceiling int) error {
	if ceiling > 0 {
		return fault.OverQuota("sent_messages", ceiling,
			"More than %d messages were sent in 24 hours, so no test can be sent. Try again later.", ceiling)
	}
	if sent >= maxTests {
		return fault.OverQuota("test_messages", maxTests,
			"At most %d test messages are sent in 24 hours. Try again tomorrow.", maxTests)
	}
	return nil
}

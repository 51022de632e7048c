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

// CheckTests rejects a test message of a member who has sent a number of them within a TestDay: QUOTA_EXCEEDED.
func CheckTests(sent int) error {
	if sent >= maxTests {
		return fault.OverQuota("test_messages", maxTests,
			"At most %d test messages are sent in 24 hours. Try again tomorrow.", maxTests)
	}
	return nil
}

package testkit

import (
	"time"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rules/session"
)

// Week asks for the week around the tests' noon.
func Week() schedules.SessionQuery {
	return schedules.SessionQuery{
		Filter: session.Filter{From: Noon.Add(-12 * time.Hour), Until: Noon.AddDate(0, 0, 7).Add(-12 * time.Hour)}, Limit: 500,
	}
}

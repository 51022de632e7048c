// Package waitlistapi serves the RPCs about waitlist entries, offers and decisions.
package waitlistapi

import (
	"time"

	"github.com/berthhq/berth/internal/app/waitlists"
)

// Waitlists handles the RPCs of the package.
type Waitlists struct {
	Service *waitlists.Service
	Now     func() time.Time
}

// Package settingsapi serves the RPCs about policies and waitlist rules.
package settingsapi

import (
	"time"

	"github.com/berthhq/berth/internal/app/settings"
)

// Settings handles the RPCs of the package.
type Settings struct {
	Service *settings.Service
	Now     func() time.Time
}

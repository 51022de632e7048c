// Package scheduleapi serves the RPCs about sessions, series and workouts.
package scheduleapi

import "github.com/berthhq/berth/internal/app/schedules"

// Schedules handles the RPCs of the package.
type Schedules struct {
	Service *schedules.Service
}

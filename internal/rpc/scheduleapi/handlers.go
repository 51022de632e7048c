// Package scheduleapi serves the RPCs about sessions, series and workouts.
package scheduleapi

import "github.com/berthhq/berth/internal/app/schedules"

// Schedules handles the RPCs of this area.
type Schedules struct {
	Schedules *schedules.Service
}

// Package bookingapi serves the RPCs about bookings, holds, check-in and analytics.
package bookingapi

import (
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
)

// Bookings handles the RPCs of the package.
type Bookings struct {
	Service *bookings.Service
	Now     func() time.Time
}

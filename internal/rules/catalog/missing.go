package catalog

import "github.com/berthhq/berth/internal/fault"

// MaxDays is a year, and a leap year.
const MaxDays = 366

// ErrNoLocation refuses what names a location that does not exist.
var ErrNoLocation = fault.Missing(fault.LocationNotFound, "Location")

// ErrNoService refuses what names a service that does not exist.
var ErrNoService = fault.Missing(fault.ServiceNotFound, "Service")

// ErrNoTenant refuses what names a tenant that does not exist.
var ErrNoTenant = fault.Missing(fault.TenantNotFound, "Tenant")

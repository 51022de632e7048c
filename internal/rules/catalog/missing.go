package catalog

import "github.com/berthhq/berth/internal/fault"

// MaxDays is a year, and a leap year.
const MaxDays = 366

var ErrNoLocation = fault.Missing(fault.LocationNotFound, "Location")

var ErrNoService = fault.Missing(fault.ServiceNotFound, "Service")

var ErrNoTenant = fault.Missing(fault.TenantNotFound, "Tenant")

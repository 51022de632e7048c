package catalog

import "github.com/berthhq/berth/internal/fault"

// ErrNoLocation is the error for a location that does not exist.
var ErrNoLocation = fault.Missing(fault.LocationNotFound, "Location")

// ErrNoService is the error for a service that does not exist.
var ErrNoService = fault.Missing(fault.ServiceNotFound, "Service")

// ErrNoTenant is the error for a tenant that does not exist.
var ErrNoTenant = fault.Missing(fault.TenantNotFound, "Tenant")

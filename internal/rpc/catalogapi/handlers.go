// Package catalogapi serves the RPCs about locations, resources, services, items, plans and benefit providers.
package catalogapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/catalog"
)

// Catalog handles the RPCs of the package.
type Catalog struct {
	Service *catalog.Service
}

// activeValues returns which of the active and the inactive ones a filter selects. Without statuses: the active ones.
func activeValues(statuses []v1.CatalogStatus) []bool {
	if len(statuses) == 0 {
		return []bool{true}
	}
	values := make([]bool, len(statuses))
	for i, s := range statuses {
		values[i] = s == v1.CatalogStatus_CATALOG_STATUS_ACTIVE
	}
	return values
}

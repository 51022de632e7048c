// Package catalogapi serves the RPCs about locations, resources, services, items, plans and benefit providers.
package catalogapi

import "github.com/berthhq/berth/internal/app/catalog"

// Catalog handles the RPCs of the package.
type Catalog struct {
	Service *catalog.Service
}

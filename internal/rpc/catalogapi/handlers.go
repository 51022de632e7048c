// Package catalogapi serves the RPCs about locations, resources, services, items, plans and benefit providers.
package catalogapi

import "github.com/berthhq/berth/internal/app/catalog"

// Catalog handles the RPCs of this area.
type Catalog struct {
	Catalog *catalog.Service
}

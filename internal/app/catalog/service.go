// Package catalog has the use cases for locations, services, resources, items, plans and benefit providers.
package catalog

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// Config is what a Service needs.
type Config struct {
	Engine *engine.Engine
}

// Service has the use cases of this package. It is safe for concurrent use.
type Service struct {
	engine *engine.Engine
}

// New makes a Service.
func New(c Config) *Service { return &Service{engine: c.Engine} }

// nameTaken translates a rejection by the unique index of a name. Reading first would not help: another transaction
// can add the same name at the same time.
func nameTaken(err error, index, field, message string) error {
	if pg.IsUnique(err, index) {
		return catalog.NameTaken(field, message).WithCause(err)
	}
	return err
}

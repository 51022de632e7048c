// Package housekeeping runs sweeps and alarms over all areas: it does what is due and repairs what should not be wrong.
package housekeeping

import (
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
)

// Config is what a Service needs.
type Config struct {
	Engine    *engine.Engine
	Accounts  *accounts.Service
	Waitlists *waitlists.Service
	Schedules *schedules.Service
	Imports   *imports.Service
	Messages  *messages.Service
	Mails     *mails.Service
}

// Service runs sweeps and alarms. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	accounts  *accounts.Service
	waitlists *waitlists.Service
	schedules *schedules.Service
	imports   *imports.Service
	messages  *messages.Service
	mails     *mails.Service
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		engine:    c.Engine,
		accounts:  c.Accounts,
		waitlists: c.Waitlists,
		schedules: c.Schedules,
		imports:   c.Imports,
		messages:  c.Messages,
		mails:     c.Mails,
	}
}

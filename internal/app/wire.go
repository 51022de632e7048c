package app

import (
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
)

// wire makes the services, each after those that it needs.
func (a *App) wire() {
	a.Waitlists = waitlists.New(waitlists.Config{
		Engine:    a.Engine,
		Claims:    a.claims,
		Tally:     a.tally,
		PublicURL: a.publicURL,
	})
	a.Bookings = bookings.New(bookings.Config{
		Engine:    a.Engine,
		Waitlists: a.Waitlists,
		Keys:      a.keys,
		PublicURL: a.publicURL,
	})
	a.Schedules = schedules.New(schedules.Config{
		Engine:    a.Engine,
		Waitlists: a.Waitlists,
		Snapshots: a.snapshots,
	})
	if a.offers == nil {
		a.offers = a.Waitlists
	}
	a.Messages = messages.New(messages.Config{
		Engine:    a.Engine,
		PublicURL: a.publicURL,
		Seals:     a.seals,
		Carriers:  a.carriers,
		MailFrom:  a.mailFrom,
		Offers:    a.offers,
		Post:      a.post,
	})
	a.Settings = settings.New(settings.Config{
		Engine:    a.Engine,
		Waitlists: a.Waitlists,
	})
	a.Catalog = catalog.New(catalog.Config{
		Engine: a.Engine,
	})
	a.Events = events.New(events.Config{
		DB:    a.db,
		Relay: a.relay,
	})
	a.Accounts = accounts.New(accounts.Config{
		Engine:       a.Engine,
		RolesChanged: a.rolesChanged,
	})
	a.Housekeeping = housekeeping.New(housekeeping.Config{
		Engine:    a.Engine,
		Waitlists: a.Waitlists,
		Schedules: a.Schedules,
		Messages:  a.Messages,
	})
}

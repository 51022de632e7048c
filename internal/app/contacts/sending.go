package contacts

import (
	"time"

	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// SendingFacts is what a tenant sent through the platform's accounts, and what its limits depend on.
type SendingFacts struct {
	zones     []string
	locale    string
	hours     []notify.SendingHour
	standings []notify.Standing
}

// Queue queues the reads. The tenant's own countries matter for text messages only.
func (f *SendingFacts) Queue(b *pg.Batch, in tenant.TenantID, countries bool, now time.Time) {
	messagedb.ListSendingHours(b, in, notify.SendingSince(now), &f.hours)
	messagedb.ListStandings(b, in, &f.standings)
	if countries {
		accountdb.ListLocationZones(b, in, &f.zones, &f.locale)
	}
}

// Sending returns what a tenant may send over channels with limits. Its own countries are those of its locations, not
// those that it chooses: a list would lift the limit for whatever it names.
func (f *SendingFacts) Sending(in tenant.TenantID, limits notify.SendingLimits, now time.Time) *notify.Sending {
	return notify.NewSending(in, limits, f.standings, f.hours, member.Countries(nil, f.zones, f.locale), now)
}

package waitlists

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// WaitlistQuery selects entries that joined and offers that were made in a span. Zero ids select all.
type WaitlistQuery struct {
	Span     civil.Span
	Location tenant.LocationID
	Service  tenant.ServiceID
}

// WaitlistGroup has the counts of a day, a location or a service.
type WaitlistGroup struct {
	Key  string
	Name string
	waitlistdb.WaitlistPart
}

// WaitlistFigures has the counts in total, and by day in the tenant's time zone, location and service.
type WaitlistFigures struct {
	Total                     waitlistdb.WaitlistPart
	Days, Locations, Services []WaitlistGroup
}

// GetWaitlistAnalytics counts entries and offers.
func (s *Service) GetWaitlistAnalytics(
	ctx context.Context, caller tenant.Caller, q WaitlistQuery,
) (WaitlistFigures, error) {
	var figures WaitlistFigures
	if err := catalog.CheckPeriodLength(q.Span); err != nil {
		return figures, err
	}
	var parts, offers []waitlistdb.WaitlistPart
	locations, services := make(map[string]string), make(map[string]string)
	err := s.engine.Snapshot(ctx, caller, func(ctx context.Context, tx *pg.ReadTx) error {
		var owner *catalog.Tenant
		var batch, counts pg.Batch
		accountdb.FindTenant(&batch, caller.Tenant, &owner)
		catalogdb.ListLocationNames(&batch, caller.Tenant, locations)
		catalogdb.ListServiceNames(&batch, caller.Tenant, services)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if owner == nil {
			return nil
		}
		clocks, err := coredb.Clocks([]string{owner.TimeZone}, q.Span)
		if err != nil {
			return err
		}
		waitlistdb.CountWaitlist(&counts, caller.Tenant, waitlistdb.WaitlistPeriod{
			Span: q.Span, Location: q.Location, Service: q.Service, Clocks: clocks,
		}, &parts, &offers)
		return tx.Load(ctx, &counts)
	})
	if err != nil {
		return figures, err
	}
	parts = append(parts, offers...)
	for _, p := range parts {
		sum(&figures.Total, p)
	}
	figures.Days = sumByKey(parts, func(p waitlistdb.WaitlistPart) (key, name string) {
		return p.Day.String(), p.Day.String()
	})
	figures.Locations = sumByKey(parts, func(p waitlistdb.WaitlistPart) (key, name string) {
		return p.Location.String(), locations[p.Location.String()]
	})
	figures.Services = sumByKey(parts, func(p waitlistdb.WaitlistPart) (key, name string) {
		return p.Service.String(), services[p.Service.String()]
	})
	return figures, nil
}

// sumByKey sums parts with the same key. It returns the groups in the order of their names.
func sumByKey(
	parts []waitlistdb.WaitlistPart, group func(waitlistdb.WaitlistPart) (key, name string),
) []WaitlistGroup {
	groups := make(map[string]*WaitlistGroup)
	for _, p := range parts {
		k, name := group(p)
		if groups[k] == nil {
			groups[k] = &WaitlistGroup{Key: k, Name: name}
		}
		sum(&groups[k].WaitlistPart, p)
	}
	var all []WaitlistGroup
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, *groups[k])
	}
	slices.SortStableFunc(all, func(a, b WaitlistGroup) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func sum(into *waitlistdb.WaitlistPart, p waitlistdb.WaitlistPart) {
	into.Counts = into.Sum(p.Counts)
	into.Promoted += p.Promoted
	for depth, n := range p.Depths {
		if into.Depths == nil {
			into.Depths = make(map[int]int)
		}
		into.Depths[depth] += n
	}
}

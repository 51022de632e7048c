package waitlistapi

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// windowValue converts a time window. It rejects dates and times of day that do not exist.
func windowValue(m *v1.WaitlistWindow) (*waitlist.Window, error) {
	w := &waitlist.Window{
		Service: convert.ID[tenant.ServiceID](m.ServiceId), Location: convert.ID[tenant.LocationID](m.LocationId),
		Resource: convert.ID[tenant.ResourceID](m.ResourceId),
		From:     convert.DateValue(m.FirstDate), Until: convert.DateValue(m.LastDate),
		Earliest: convert.TimeOfDayValue(m.EarliestStart), Latest: convert.TimeOfDayValue(m.LatestStart),
	}
	if m.LastDate == nil {
		w.Until = w.From
	}
	if m.LatestStart == nil {
		w.Latest = civil.TimeOfDay{Hour: 23, Minute: 59, Second: 59}
	}
	switch {
	case !w.From.Valid():
		return nil, fault.Invalid("window.first_date", "There is no such day.")
	case !w.Until.Valid():
		return nil, fault.Invalid("window.last_date", "There is no such day.")
	case !w.Earliest.Valid():
		return nil, fault.Invalid("window.earliest_start", "There is no such time of day.")
	case !w.Latest.Valid():
		return nil, fault.Invalid("window.latest_start", "There is no such time of day.")
	}
	return w, nil
}

func figuresMessage(p waitlists.WaitlistPart) *v1.WaitlistFigures {
	m := &v1.WaitlistFigures{
		Entries: int32(p.Entries), Active: int32(p.Active), Booked: int32(p.Booked), Promoted: int32(p.Promoted),
		OffersSent: int32(p.Offers),
		Accepted:   int32(p.Accepted), Declined: int32(p.Declined), Expired: int32(p.RanOut), Withdrawn: int32(p.Withdrawn),
	}
	if p.Offers > 0 {
		m.AcceptanceRate = new(p.AcceptanceRate())
	}
	if p.Entries > 0 {
		m.ConversionRate = new(p.ConversionRate())
	}
	if p.Accepted+p.Declined > 0 {
		m.AverageResponseTime = durationpb.New(p.AverageResponse())
	}
	if len(p.Depths) > 0 {
		m.AverageCascadeDepth = new(p.CascadeDepth())
		m.MaxCascadeDepth = new(int32(slices.Max(slices.Collect(maps.Keys(p.Depths)))))
	}
	return m
}

func figuresRowMessage(g waitlists.WaitlistGroup) *v1.WaitlistFiguresRow {
	return &v1.WaitlistFiguresRow{Key: g.Key, Name: g.Name, Figures: figuresMessage(g.WaitlistPart)}
}

func cascadeDepths(counts map[int]int) []int32 {
	var all []int32
	for depth, n := range counts {
		for len(all) < depth {
			all = append(all, 0)
		}
		all[depth-1] = int32(n)
	}
	return all
}

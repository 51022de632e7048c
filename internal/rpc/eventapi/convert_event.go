package eventapi

import (
	"strings"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// eventTypePrefix is the prefix of event types in the contract: "booking.no_show" is EVENT_TYPE_BOOKING_NO_SHOW.
const eventTypePrefix = "EVENT_TYPE_"

var (
	// EventTypes maps the domain's event types to the contract's.
	EventTypes = make(map[events.EventType]v1.EventType)
	// DomainEventTypes maps the contract's event types to the domain's.
	DomainEventTypes = make(map[v1.EventType]events.EventType)
)

func init() {
	for name, number := range v1.EventType_value {
		subject, verb, ok := strings.Cut(strings.ToLower(strings.TrimPrefix(name, eventTypePrefix)), "_")
		if ok {
			t := events.EventType(subject + "." + verb)
			EventTypes[t], DomainEventTypes[v1.EventType(number)] = v1.EventType(number), t
		}
	}
}

func eventFilterValue(f *v1.EventFilter) events.EventFilter {
	filter := events.EventFilter{
		Session:  convert.ID[tenant.SessionID](f.GetSessionId()),
		Booking:  convert.ID[tenant.BookingID](f.GetBookingId()),
		Member:   convert.ID[tenant.MemberID](f.GetMemberId()),
		Location: convert.ID[tenant.LocationID](f.GetLocationId()),
	}
	for _, t := range f.GetTypes() {
		filter.Types = append(filter.Types, DomainEventTypes[t])
	}
	return filter
}

// eventMessages converts events. The message of an event is made once and shared by all streams that send it.
func eventMessages(in tenant.TenantID, records []*events.EventRecord) []*v1.Event {
	messages := make([]*v1.Event, len(records))
	for i, e := range records {
		messages[i] = e.Memo(func(e *events.EventRecord) any { return eventMessage(in, e) }).(*v1.Event)
	}
	return messages
}

func eventMessage(in tenant.TenantID, e *events.EventRecord) *v1.Event {
	m := &v1.Event{
		Id:             convert.IDText(e.ID),
		Type:           EventTypes[e.Data.Type()],
		Cursor:         e.Cursor.Token(in),
		OccurTime:      convert.Timestamp(e.At),
		SessionId:      convert.IDText(e.Session),
		BookingId:      convert.IDText(e.Booking),
		MemberId:       convert.IDText(e.Member),
		EntryId:        convert.IDText(e.Entry),
		OfferId:        convert.IDText(e.Offer),
		LocationId:     convert.IDText(e.To.Location),
		SubscriptionId: convert.IDText(subscriptionOf(e)),
		Actor:          convert.Actor(e.Actor, e.ActorName),
	}
	if e.View != event.Public {
		setDetails(m, e)
	}
	return m
}

// subscriptionOf returns the subscription that an event is about, as far as the view shows it.
func subscriptionOf(e *events.EventRecord) tenant.SubscriptionID {
	switch d := e.Data.(type) {
	case event.CreditsChanged:
		return d.Subscription
	case event.SubscriptionChanged:
		return d.Subscription
	}
	return e.Facts.Subscription
}

package eventapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

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
func eventMessages(in tenant.TenantID, records []*events.EventRecord) ([]*v1.Event, error) {
	messages := make([]*v1.Event, len(records))
	for i, e := range records {
		m, err := e.Memo(func(e *events.EventRecord) (any, error) { return eventMessage(in, e) })
		if err != nil {
			return nil, err
		}
		messages[i] = m.(*v1.Event)
	}
	return messages, nil
}

func eventMessage(in tenant.TenantID, e *events.EventRecord) (*v1.Event, error) {
	details, err := detailsOf(e)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return &v1.Event{
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
		SubscriptionId: convert.IDText(subscriptionOf(e.Data)),
		Actor:          convert.Actor(e.Actor, e.ActorName),
		Details:        details,
	}, nil
}

// subscriptionOf returns the subscription that an event is about, as far as the view shows it.
func subscriptionOf(data event.Data) tenant.SubscriptionID {
	switch d := data.(type) {
	case event.CreditsChanged:
		return d.Subscription
	case event.SubscriptionChanged:
		return d.Subscription
	}
	return tenant.SubscriptionID{}
}

// detailsOf returns what the record's view shows of its data, or nil if that is nothing.
func detailsOf(e *events.EventRecord) (*structpb.Struct, error) {
	text, err := json.Marshal(e.Data)
	if err != nil {
		return nil, err
	}
	details := new(structpb.Struct)
	if err := details.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	maps.DeleteFunc(details.GetFields(), func(name string, _ *structpb.Value) bool { return !e.View.Shows(e.Data, name) })
	if len(details.GetFields()) == 0 {
		return nil, nil
	}
	return details, nil
}

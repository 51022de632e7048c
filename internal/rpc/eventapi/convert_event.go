package eventapi

import (
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
)

// An event's type is named "booking.no_show" inside and EVENT_TYPE_BOOKING_NO_SHOW in the contract.
const eventTypePrefix = "EVENT_TYPE_"

var (
	EventTypes     = make(map[events.EventType]v1.EventType)
	EventTypeWords = make(map[v1.EventType]events.EventType)
)

func init() {
	for name, number := range v1.EventType_value {
		subject, verb, ok := strings.Cut(strings.ToLower(strings.TrimPrefix(name, eventTypePrefix)), "_")
		if ok {
			word := events.EventType(subject + "." + verb)
			EventTypes[word], EventTypeWords[v1.EventType(number)] = v1.EventType(number), word
		}
	}
}

func eventFilter(f *v1.EventFilter) events.EventFilter {
	filter := events.EventFilter{
		Session:  convert.ID[tenant.SessionID](f.GetSessionId()),
		Booking:  convert.ID[tenant.BookingID](f.GetBookingId()),
		Member:   convert.ID[tenant.MemberID](f.GetMemberId()),
		Location: convert.ID[tenant.LocationID](f.GetLocationId()),
	}
	for _, t := range f.GetTypes() {
		filter.Types = append(filter.Types, EventTypeWords[t])
	}
	return filter
}

// eventMessages makes the message of an event that many watch only once.
func eventMessages(in tenant.TenantID, records []*events.EventRecord) []*v1.Event {
	made := make([]*v1.Event, len(records))
	for i, e := range records {
		made[i] = e.Memo(func(e *events.EventRecord) any { return eventMessage(in, e) }).(*v1.Event)
	}
	return made
}

func eventMessage(in tenant.TenantID, e *events.EventRecord) *v1.Event {
	m := &v1.Event{
		Id:         convert.IDText(e.ID),
		Type:       EventTypes[e.Type],
		Cursor:     e.Cursor.Token(in),
		OccurTime:  convert.Timestamp(e.At),
		SessionId:  convert.IDText(e.Session),
		BookingId:  convert.IDText(e.Booking),
		MemberId:   convert.IDText(e.Member),
		EntryId:    convert.IDText(e.Entry),
		LocationId: convert.IDText(e.Location),
		Actor:      e.Actor,
	}
	if !e.Offer.IsZero() {
		m.OfferId = e.Offer.String()
	}
	if len(e.Data) > 0 {
		// It was JSON, so nothing in it can fail; texts that are no UTF-8 are none that Postgres keeps.
		m.Details, _ = structpb.NewStruct(e.Data)
	}
	return m
}

package rpc

import (
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	appevents "github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/tenant"
)

// An event's type is named "booking.no_show" inside and EVENT_TYPE_BOOKING_NO_SHOW in the contract.
const eventTypePrefix = "EVENT_TYPE_"

var (
	eventTypes     = make(map[appevents.EventType]v1.EventType)
	eventTypeWords = make(map[v1.EventType]appevents.EventType)
)

func init() {
	for name, number := range v1.EventType_value {
		subject, verb, ok := strings.Cut(strings.ToLower(strings.TrimPrefix(name, eventTypePrefix)), "_")
		if ok {
			word := appevents.EventType(subject + "." + verb)
			eventTypes[word], eventTypeWords[v1.EventType(number)] = v1.EventType(number), word
		}
	}
}

func eventFilter(f *v1.EventFilter) appevents.EventFilter {
	filter := appevents.EventFilter{
		Session:  id[tenant.SessionID](f.GetSessionId()),
		Booking:  id[tenant.BookingID](f.GetBookingId()),
		Member:   id[tenant.MemberID](f.GetMemberId()),
		Location: id[tenant.LocationID](f.GetLocationId()),
	}
	for _, t := range f.GetTypes() {
		filter.Types = append(filter.Types, eventTypeWords[t])
	}
	return filter
}

// eventMessages makes the message of an event that many watch only once.
func eventMessages(in tenant.TenantID, events []*appevents.EventRecord) []*v1.Event {
	made := make([]*v1.Event, len(events))
	for i, e := range events {
		made[i] = e.Memo(func(e *appevents.EventRecord) any { return eventMessage(in, e) }).(*v1.Event)
	}
	return made
}

func eventMessage(in tenant.TenantID, e *appevents.EventRecord) *v1.Event {
	m := &v1.Event{
		Id:         idText(e.ID),
		Type:       eventTypes[e.Type],
		Cursor:     e.Cursor.Token(in),
		OccurTime:  timestamp(e.At),
		SessionId:  idText(e.Session),
		BookingId:  idText(e.Booking),
		MemberId:   idText(e.Member),
		EntryId:    idText(e.Entry),
		LocationId: idText(e.Location),
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

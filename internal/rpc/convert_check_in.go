package rpc

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func presence(m *v1.SelfCheckInRequest) appbookings.Presence {
	p := appbookings.Presence{QR: m.GetQrToken()}
	if at := m.GetPosition(); at != nil {
		p.Point = &catalog.Point{Latitude: at.Latitude, Longitude: at.Longitude}
	}
	return p
}

func displayMessage(d appbookings.Display) *v1.GetDisplayResponse {
	return &v1.GetDisplayResponse{
		Title:             d.Title,
		LocationName:      d.Location,
		CoachName:         d.Coach,
		StartTime:         timestamp(d.Starts),
		EndTime:           timestamp(d.Ends),
		TimeZone:          d.TimeZone,
		Expected:          int32(d.Expected),
		Arrived:           int32(d.Arrived),
		Arrivals:          messages(d.Arrivals, arrivalMessage),
		QrToken:           d.QR,
		RefreshTime:       timestamp(d.Refresh),
		NextToken:         d.Next,
		CheckinOpensTime:  timestamp(d.Opens),
		CheckinClosesTime: timestamp(d.Closes),
	}
}

func arrivalMessage(a appbookings.Arrival) *v1.DisplayArrival {
	return &v1.DisplayArrival{DisplayName: a.Name, PartySize: int32(a.Party), CheckInTime: timestamp(a.At)}
}

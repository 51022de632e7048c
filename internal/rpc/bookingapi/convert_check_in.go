package bookingapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func presenceValue(m *v1.SelfCheckInRequest) bookings.CheckInProof {
	p := bookings.CheckInProof{QR: m.GetQrToken()}
	if at := m.GetPosition(); at != nil {
		p.Point = &catalog.Point{Latitude: at.Latitude, Longitude: at.Longitude}
	}
	return p
}

func displayMessage(d bookings.Display) *v1.GetDisplayResponse {
	return &v1.GetDisplayResponse{
		Title:             d.Title,
		LocationName:      d.Location,
		CoachName:         d.Coach,
		StartTime:         convert.Timestamp(d.Starts),
		EndTime:           convert.Timestamp(d.Ends),
		TimeZone:          d.TimeZone,
		Expected:          int32(d.Expected),
		Arrived:           int32(d.Arrived),
		Arrivals:          convert.Messages(d.Arrivals, arrivalMessage),
		QrToken:           d.QR,
		RefreshTime:       convert.Timestamp(d.Refresh),
		NextToken:         d.Next,
		CheckinOpensTime:  convert.Timestamp(d.Opens),
		CheckinClosesTime: convert.Timestamp(d.Closes),
	}
}

func arrivalMessage(a bookings.Arrival) *v1.DisplayArrival {
	return &v1.DisplayArrival{DisplayName: a.Name, PartySize: int32(a.Party), CheckInTime: convert.Timestamp(a.At)}
}

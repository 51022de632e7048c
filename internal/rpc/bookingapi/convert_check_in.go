package bookingapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/checkin"
)

func presenceValue(m *v1.SelfCheckInRequest) bookings.CheckInProof {
	p := bookings.CheckInProof{QR: m.GetQrToken()}
	if at := m.GetPosition(); at != nil {
		p.Position = &checkin.Position{
			Point: checkin.Point{Latitude: at.Latitude, Longitude: at.Longitude}, Accuracy: m.GetAccuracyMeters(),
		}
		if m.PositionAge != nil {
			p.Position.Age = new(m.PositionAge.AsDuration())
		}
	}
	return p
}

func displayMessage(d bookings.Display) *v1.GetCheckInDisplayResponse {
	return &v1.GetCheckInDisplayResponse{
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
		CheckInOpensTime:  convert.Timestamp(d.Opens),
		CheckInClosesTime: convert.Timestamp(d.Closes),
		ExpireTime:        convert.Timestamp(d.Expires),
	}
}

// displayLinkMessage converts a link, with the names of actors that the caller may know.
func displayLinkMessage(l checkin.DisplayLink, names map[string]string) *v1.DisplayLink {
	return &v1.DisplayLink{
		Id:             convert.IDText(l.ID),
		SessionId:      convert.IDText(l.Session),
		CreateTime:     convert.Timestamp(l.CreatedAt),
		CreatedBy:      convert.Actor(l.CreatedBy, names[l.CreatedBy]),
		ExpireTime:     convert.Timestamp(l.Expires()),
		OpenTime:       convert.Timestamp(l.OpenedAt),
		RevokeTime:     convert.Timestamp(l.RevokedAt),
		RevokedBy:      convert.Actor(l.RevokedBy, names[l.RevokedBy]),
		SecondOpenTime: convert.Timestamp(l.SecondAt),
	}
}

func arrivalMessage(a bookings.Arrival) *v1.DisplayArrival {
	return &v1.DisplayArrival{DisplayName: a.Name, PartySize: int32(a.Party), CheckInTime: convert.Timestamp(a.At)}
}

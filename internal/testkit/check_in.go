package testkit

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/tenant"
)

// Class is when the sessions of these tests start.
var Class = Noon.Add(48 * time.Hour)

// Scan is what somebody sends who scans a session's code now.
func (h *House) Scan(session tenant.SessionID) bookings.CheckInProof {
	h.T.Helper()
	qr, err := h.App.Bookings.GetQRToken(context.Background(), h.Coach, session)
	if err != nil {
		h.T.Fatal(err)
	}
	return bookings.CheckInProof{QR: qr.Text}
}

// SelfCheckIn checks a member in with the code of a session.
func (h *House) SelfCheckIn(who tenant.Caller, session tenant.SessionID, proof bookings.CheckInProof) (bookings.CheckInResult, error) {
	return h.App.Bookings.SelfCheckIn(context.Background(), who, session, proof)
}

// CheckIn checks a booking in, as the coach.
func (h *House) CheckIn(by tenant.Caller, id tenant.BookingID) (bookings.CheckInResult, error) {
	return h.App.Bookings.CheckIn(context.Background(), by, id)
}

// EventsOf lists the types of a booking's events in order, with who made them happen.
func (h *House) EventsOf(id tenant.BookingID) string {
	h.T.Helper()
	return h.QueryText(`select string_agg(type || ' ' || case actor when $3 then 'coach' when 'system' then actor else 'member' end, ', ' order by xid, id)
		from events where tenant_id = $1 and booking_id = $2`, h.Tenant, id, h.Coach.Actor())
}

package notify

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/tenant"
)

func TestNotice_IsAboutTheMemberOrTheGuestsBooking(t *testing.T) {
	t.Parallel()
	member, booked := tenant.New[tenant.MemberID](monday), tenant.New[tenant.BookingID](monday)
	test.EqOp(t, member.UUID, Notice{Member: member, Booking: booked}.Recipient())
	test.EqOp(t, booked.UUID, Notice{Booking: booked}.Recipient())
}

package bookings

import (
	"encoding/hex"
	"testing"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// The hash is stored with the booking: an external reference that is sent again, to the next release too, has to match.
func TestBookRequest_HashNeverChanges(t *testing.T) {
	t.Parallel()
	id := tenant.UUID{0: 1, 15: 2}
	r := BookRequest{
		Session: tenant.SessionID{UUID: id}, Member: tenant.MemberID{UUID: id}, Party: 3,
		Subscription: tenant.SubscriptionID{UUID: id}, Channel: catalog.Online, ExternalRef: "ref", Note: "note",
		NoWaitlist: true, Hold: true, Guest: true,
		Contact: booking.Contact{Name: "Ada", Phone: "+15550100", Email: "a@b.example"},
		Items:   []booking.ItemChoice{{Item: tenant.ItemID{UUID: id}, Quantity: 2}}, GuestTier: "gold",
	}
	for name, tt := range map[string]struct {
		request BookRequest
		want    string
	}{
		"all fields": {r, "b3536dc51871c893bda64583874a29cc8610f1a4c16bf45228b1a0e02a1f5354"},
		"no fields":  {BookRequest{}, "65f9ced205456983628ce1b6d5064b69d09ae7c4547fe1feaa0d167e2ac74aac"},
	} {
		if got := hex.EncodeToString(tt.request.hash()); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

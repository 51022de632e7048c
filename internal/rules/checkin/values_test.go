package checkin_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/checkin"
)

// Rows and the contract have these values.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []checkin.Method{"MANUAL", "QR", "GPS"}, []checkin.Method{checkin.Manual, checkin.QR, checkin.GPS})
	test.Eq(t, []checkin.Delivery{"IN_PERSON", "FEED"}, []checkin.Delivery{checkin.InPerson, checkin.Feed})
	test.Eq(t, []checkin.Status{"PENDING", "CONFIRMED", "ATTENDED", "NO_SHOW", "CANCELLED", "EXPIRED"},
		[]checkin.Status{
			checkin.Pending, checkin.Confirmed, checkin.Attended, checkin.NoShow, checkin.Cancelled, checkin.Expired,
		})
}

// Displays and nodes of two versions run at the same time. They must agree on codes and on how long these are valid.
func TestCodes_AreTheSameInAllVersions(t *testing.T) {
	t.Parallel()
	test.EqOp(t, 30*time.Second, checkin.QRInterval)
	test.EqOp(t, 90*time.Second, checkin.QRTTL)
	test.EqOp(t, 10*time.Minute, checkin.MaxQRTTL)
	test.EqOp(t, 10*time.Minute, checkin.DisplayTTL)
	test.EqOp(t, 30*time.Second, checkin.MaxClockSkew)
	test.EqOp(t, 32, checkin.MinSecretLength)
	k := keys(t, oldSecret)
	code, _ := k.SignQR(club, yoga, starts, checkin.QRTTL)
	display, _ := k.SignDisplay(wall, starts)
	test.EqOp(t, "AQGS0_AAAHAAgAAAAAAAAAEBktPwAABwAIAAAAAAAAARAAAAAGnJaKAAAAAAaclo-t1ncP9WnUHEvBa0cleSbKs", code)
	test.EqOp(t, "AQGS0_AAAHAAgAAAAAAAAAEBktPwAABwAIAAAAAAAAARAZLT8AAAcACAAAAAAAAAIQGS0_AAAHAAgAAAAAAAADEA"+
		"AAAAaclooAAAAABpyWr4_FWnyVtjsM69WDUPGXhYGA", display)
}

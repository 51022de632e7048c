package delivery

import (
	"testing"

	"github.com/shoenig/test"
)

func TestMask_HidesMostOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		channel       Channel
		address, want string
	}{
		{Email, "émilie@example.com", "é***@example.com"}, {Email, "@b", "***@b"}, {SMS, "+4930123456", "+49******56"},
		{SMS, "123456", "***"}, {SMS, "1234567", "123**67"}, {SMS, "", ""}, {Push, "token@x", "token@x"},
	} {
		test.EqOp(t, tt.want, Mask(tt.channel, tt.address))
	}
}

package waitlistapi

import (
	"testing"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/waitlist"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// Every field is converted to the field of the same meaning.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.AddBack(&l, func(m *v1.WaitlistWindow) *waitlist.Window {
		return expect.Value(windowValue(m))(t)
	})
	l.Check(t, "testdata/fields.txt")
}

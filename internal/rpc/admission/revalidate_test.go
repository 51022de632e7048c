package admission

import (
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestEntityTag_DependsOnContentAndCaller(t *testing.T) {
	t.Parallel()
	var a, b tenant.Caller
	b.Subject = "b"
	message := &v1.BookingEligibility{Metadata: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}}
	one := expect.Value(entityTag(a, message))(t)
	for range 20 { // in case the order of a map matters
		must.EqOp(t, one, expect.Value(entityTag(a, proto.CloneOf(message)))(t))
	}
	two := expect.Value(entityTag(b, message))(t)
	test.NotEqOp(t, one, two, test.Sprint("two callers have one tag"))
}

package admission

import (
	"testing"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// Otherwise one request could cost as much as its bytes allow.
func TestBounds_EveryListAndTextOfRequestsHasOne(t *testing.T) {
	t.Parallel()
	all := requestLimits(expect.Value(Rules())(t))
	left := len(unruled)
	for field, b := range all {
		_, listed := unruled[field.FullName()]
		if listed {
			left--
		}
		test.False(t, field.IsMap(), test.Sprint(field.FullName(), "is a map"))
		test.False(t, field.IsList() && b.items == 0, test.Sprint(field.FullName(), "is a list without max_items"))
		if kind := field.Kind(); kind == protoreflect.StringKind || kind == protoreflect.BytesKind {
			test.Positive(t, b.bytes, test.Sprint(field.FullName(), "has no max_len"))
		}
	}
	test.EqOp(t, 0, left, test.Sprint("fields of the list are in no request"))
}

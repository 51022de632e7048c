package fault_test

import (
	"errors"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
)

// An edit says which version it is of, or overwrites any.
func TestCheckVersion_RejectsOtherVersions(t *testing.T) {
	t.Parallel()
	test.NoError(t, fault.CheckVersion(nil, 3))
	test.NoError(t, fault.CheckVersion(new(3), 3))
	f, ok := errors.AsType[*fault.Error](fault.CheckVersion(new(2), 3))
	must.True(t, ok, must.Sprint(f))
	test.EqOp(t, fault.ETagMismatch, f.Reason)
	test.EqOp(t, "etag", f.Field)
}

package content

import (
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// set has the fields that differ.
type set = vary.Fields

func zone(t must.T, name string) *time.Location {
	t.Helper()
	return expect.Value(time.LoadLocation(name))(t)
}

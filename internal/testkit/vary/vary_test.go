package vary_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/vary"
)

type kind string

type inner struct{ Count int32 }

type outer struct {
	Name   kind
	Length time.Duration
	Limit  *int64
	Inner  inner
	Far    *inner
	Any    error
}

func TestFrom_ChangesFieldsOfACopy(t *testing.T) {
	t.Parallel()
	base := outer{Name: "a", Length: 1, Limit: new(int64(3)), Inner: inner{1}, Far: &inner{1}}
	for name, tt := range map[string]struct {
		fields vary.Fields
		want   outer
	}{
		"none":   {nil, base},
		"values": {vary.Fields{"Name": "b", "Length": 2}, outer{"b", 2, base.Limit, inner{1}, base.Far, nil}},
		"a pointer": {
			vary.Fields{"Limit": 7, "Length": nil}, outer{"a", 0, new(int64(7)), inner{1}, base.Far, nil},
		},
		"none to point to": {vary.Fields{"Limit": nil}, outer{"a", 1, nil, inner{1}, base.Far, nil}},
		"a field of a field": {
			vary.Fields{"Inner.Count": 5, "Far.Count": 6}, outer{"a", 1, base.Limit, inner{5}, &inner{6}, nil},
		},
	} {
		test.Eq(t, tt.want, vary.From(base, tt.fields), test.Sprint(name))
	}
	test.EqOp(t, 1, base.Far.Count, test.Sprint("the base stays as it is"))
}

func TestFrom_PanicsWithoutSuchAField(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]vary.Fields{
		"no field": {"Other": 1}, "a wrong kind": {"Name": 1}, "a text for a number": {"Length": "1"},
	} {
		panics := func() (panics bool) {
			defer func() { panics = recover() != nil }()
			vary.From(outer{}, fields)
			return false
		}
		test.True(t, panics(), test.Sprint(name))
	}
}

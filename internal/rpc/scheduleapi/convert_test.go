package scheduleapi

import (
	"testing"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.Add(&l, sessionMessage, func(s *session.Session) {
		*s.Capacity, s.State, s.Delivery = 1000, catalog.Published, catalog.Feed
	})
	converttest.AddBack(&l, inputValue)
	converttest.AddBack(&l, seriesInputValue)
	converttest.Add(&l, seriesMessage, func(s *session.Series) { s.Status = session.SeriesActive })
	converttest.AddBack(&l, seriesFilterValue)
	converttest.AddBack(&l, FilterValue)
	converttest.Add(&l, matchMessage, func(s *schedules.Sample) { s.State = catalog.Cancelled })
	converttest.Add(&l, workoutMessage)
	l.Check(t, "testdata/fields.txt")
}

package localbox_test

import (
	"strconv"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider/localbox"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestBox_KeepsTheNewest(t *testing.T) {
	t.Parallel()
	var box localbox.Box
	test.SliceEmpty(t, box.Messages())
	for n := range 102 {
		expect.OK(t)(box.Send(t.Context(), delivery.Message{To: strconv.Itoa(n)}))
	}
	must.SliceLen(t, 100, box.Messages())
	test.EqOp(t, "101", box.Messages()[0].To)
	test.EqOp(t, "2", box.Messages()[99].To)
}

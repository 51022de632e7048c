package web

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/boombuler/barcode/qr"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// The drawing has the modules of the code.
func TestDrawQR_DrawsModulesOfCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[A-Za-z0-9_-]{1,87}`).Draw(t, "text")
		code := expect.Value(qr.Encode(text, qr.M, qr.Unicode))(t)
		drawn := expect.Value(drawQR(text))(t)
		size := code.Bounds().Dx()
		must.EqOp(t, fmt.Sprintf("-4 -4 %d %d", size+8, size+8), drawn.ViewBox)
		dark := make(map[[2]int]bool)
		for part := range strings.SplitSeq(strings.TrimSuffix(drawn.Path, "z"), "z") {
			var x, y, wide, back int
			expect.OK(t)(fmt.Sscanf(part, "M%d %dh%dv1h-%d", &x, &y, &wide, &back))
			must.EqOp(t, wide, back)
			for i := range wide {
				dark[[2]int{x + i, y}] = true
			}
		}
		for y := range size {
			for x := range size {
				must.EqOp(t, (code.At(x, y) == color.Black), dark[[2]int{x, y}], must.Sprintf("module %d, %d of %q", x, y, text))
			}
		}
	})
}

func TestDrawQR_RejectsLongText(t *testing.T) {
	t.Parallel()
	test.Error(t, expect.Error(drawQR(strings.Repeat("x", 3000))))
}

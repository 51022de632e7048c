package web

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/boombuler/barcode/qr"
	"pgregory.net/rapid"
)

// The drawing has the modules of the code.
func TestDrawQR_DrawsModulesOfCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[A-Za-z0-9_-]{1,87}`).Draw(t, "text")
		code, err := qr.Encode(text, qr.M, qr.Unicode)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := drawQR(text)
		if err != nil {
			t.Fatal(err)
		}
		size := code.Bounds().Dx()
		if want := fmt.Sprintf("-4 -4 %d %d", size+8, size+8); drawn.ViewBox != want {
			t.Fatalf("%s, want %s", drawn.ViewBox, want)
		}
		dark := make(map[[2]int]bool)
		for part := range strings.SplitSeq(strings.TrimSuffix(drawn.Path, "z"), "z") {
			var x, y, wide, back int
			if _, err := fmt.Sscanf(part, "M%d %dh%dv1h-%d", &x, &y, &wide, &back); err != nil || back != wide {
				t.Fatalf("%q: %v", part, err)
			}
			for i := range wide {
				dark[[2]int{x + i, y}] = true
			}
		}
		for y := range size {
			for x := range size {
				if dark[[2]int{x, y}] != (code.At(x, y) == color.Black) {
					t.Fatalf("module %d, %d of %q", x, y, text)
				}
			}
		}
	})
}

func TestDrawQR_RejectsLongText(t *testing.T) {
	t.Parallel()
	if code, err := drawQR(strings.Repeat("x", 3000)); err == nil {
		t.Errorf("%d characters", len(code.Path))
	}
}

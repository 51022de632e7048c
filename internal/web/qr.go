package web

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quiet is the blank margin that readers need around a code, in modules (ISO/IEC 18004).
const quiet = 4

// qrCode is a QR code as the parts of an SVG image whose unit is a module.
type qrCode struct {
	ViewBox string
	Path    string // the dark modules
}

// drawQR draws a text. A seventh of the code may be covered or glare, and it still reads.
func drawQR(text string) (*qrCode, error) {
	code, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		return nil, fmt.Errorf("QR code: %w", err)
	}
	size := code.Bounds().Dx()
	dark := func(x, y int) bool { return x < size && code.At(x, y) == color.Black }
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; x++ {
			run := x
			for dark(run, y) {
				run++
			}
			if run > x {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x, y, run-x, run-x)
				x = run
			}
		}
	}
	return &qrCode{ViewBox: fmt.Sprintf("%d %d %d %d", -quiet, -quiet, size+2*quiet, size+2*quiet), Path: path.String()}, nil
}

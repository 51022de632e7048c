package web

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quietZone is the blank margin that scanners need around a code, in modules (ISO/IEC 18004).
const quietZone = 4

// qrCode is a QR code as parts of an SVG image whose unit is a module.
type qrCode struct {
	ViewBox string
	Path    string // the dark modules
}

// drawQR draws a text. The code is readable with up to 15% of it damaged or covered.
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
			end := x
			for dark(end, y) {
				end++
			}
			if end > x {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x, y, end-x, end-x)
				x = end
			}
		}
	}
	margins := fmt.Sprintf("%d %d %d %d", -quietZone, -quietZone, size+2*quietZone, size+2*quietZone)
	return &qrCode{ViewBox: margins, Path: path.String()}, nil
}

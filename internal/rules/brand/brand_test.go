package brand_test

import (
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/brand"
)

func TestValidate_AcceptsOnlyPublicHTTPSLogosAndHexColors(t *testing.T) {
	t.Parallel()
	const logo, accent = "brand.logo_url", "brand.accent_color"
	for name, c := range map[string]struct {
		brand brand.Brand
		want  string // the rejected field
	}{
		"none":                {brand.Brand{}, ""},
		"both":                {brand.Brand{LogoURL: "https://cdn.example.com/a/logo.svg?v=2&w=200", Accent: "#0b6E4f"}, ""},
		"port":                {brand.Brand{LogoURL: "https://cdn.example.com:8443/logo.png"}, ""},
		"host alone":          {brand.Brand{LogoURL: "https://logo.example"}, ""},
		"escaped":             {brand.Brand{LogoURL: "https://cdn.example.com/my%20logo.png"}, ""},
		"500 characters":      {brand.Brand{LogoURL: "https://a.example/" + strings.Repeat("x", 482)}, ""},
		"501 characters":      {brand.Brand{LogoURL: "https://a.example/" + strings.Repeat("x", 483)}, logo},
		"http":                {brand.Brand{LogoURL: "http://cdn.example.com/logo.png"}, logo},
		"other case":          {brand.Brand{LogoURL: "HTTPS://cdn.example.com/logo.png"}, logo},
		"script":              {brand.Brand{LogoURL: "javascript:alert(1)//https://a.example"}, logo},
		"data":                {brand.Brand{LogoURL: "data:image/png;base64,AAAA"}, logo},
		"no scheme":           {brand.Brand{LogoURL: "//cdn.example.com/logo.png"}, logo},
		"path":                {brand.Brand{LogoURL: "/logo.png"}, logo},
		"no host":             {brand.Brand{LogoURL: "https:///logo.png"}, logo},
		"dots for a host":     {brand.Brand{LogoURL: "https://../logo.png"}, logo},
		"user":                {brand.Brand{LogoURL: "https://me:secret@cdn.example.com/logo.png"}, logo},
		"fragment":            {brand.Brand{LogoURL: "https://cdn.example.com/logo.svg#mark"}, logo},
		"space":               {brand.Brand{LogoURL: "https://cdn.example.com/my logo.png"}, logo},
		"line break":          {brand.Brand{LogoURL: "https://cdn.example.com/logo.png\nX: y"}, logo},
		"quote":               {brand.Brand{LogoURL: `https://cdn.example.com/"onerror="x`}, logo},
		"apostrophe":          {brand.Brand{LogoURL: "https://cdn.example.com/'"}, logo},
		"tag":                 {brand.Brand{LogoURL: "https://cdn.example.com/<b>"}, logo},
		"backslash":           {brand.Brand{LogoURL: `https://cdn.example.com\logo`}, logo},
		"letters outside":     {brand.Brand{LogoURL: "https://münchen.example/logo.png"}, logo},
		"NUL":                 {brand.Brand{LogoURL: "https://cdn.example.com/\x00"}, logo},
		"this machine":        {brand.Brand{LogoURL: "https://localhost/logo.png"}, logo},
		"name without a dot":  {brand.Brand{LogoURL: "https://router/logo.png"}, logo},
		"and with a last dot": {brand.Brand{LogoURL: "https://router./logo.png"}, logo},
		"number":              {brand.Brand{LogoURL: "https://192.168.0.1/logo.png"}, logo},
		"number and dot":      {brand.Brand{LogoURL: "https://192.168.0.1./logo.png"}, logo},
		"IPv6":                {brand.Brand{LogoURL: "https://[::1]/logo.png"}, logo},
		"last dot":            {brand.Brand{LogoURL: "https://cdn.example.com./logo.png"}, ""},
		"two last dots":       {brand.Brand{LogoURL: "https://cdn.example.com../logo.png"}, logo},
		"dot first":           {brand.Brand{LogoURL: "https://.example/logo.png"}, logo},
		"a last nine":         {brand.Brand{LogoURL: "https://cdn.9x/logo.png"}, logo},
		"short number":        {brand.Brand{LogoURL: "https://127.1/logo.png"}, logo},
		"hexadecimal number":  {brand.Brand{LogoURL: "https://127.0.0.0x1/logo.png"}, logo},
		"digits in names":     {brand.Brand{LogoURL: "https://1.cdn2.example3/logo.png"}, ""},
		"short color":         {brand.Brand{Accent: "#fff"}, accent},
		"long color":          {brand.Brand{Accent: "#0b6e4fff"}, accent},
		"no hash":             {brand.Brand{Accent: "00b6e4f"}, accent},
		"named color":         {brand.Brand{Accent: "#orange"}, accent},
		"style":               {brand.Brand{Accent: "#fff}*{"}, accent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := ""
			if c.want != "" {
				want = "INVALID_FIELD @" + c.want
			}
			test.EqOp(t, want, faulttest.Text(c.brand.Validate("brand")))
		})
	}
}

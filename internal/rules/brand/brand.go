// Package brand is what a tenant looks like: its logo, and an accent color that stays readable wherever it is put.
package brand

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/berthhq/berth/internal/fault"
)

// Brand is a tenant's own look. Empty parts are Berth's.
type Brand struct {
	// LogoURL is the https address of a picture. Browsers and mail programs fetch it; the service never does, so
	// that nobody can have it call what only the service reaches.
	LogoURL string
	Accent  string // #rrggbb
}

// maxURL bounds a logo's address, in characters.
const maxURL = 500

// Characters that end or break up an address in HTML, style sheets or headers are none of an address's own.
var address = regexp.MustCompile("^https://[!#-&(-;=?-Z_a-z~]+$")

// Validate refuses a look that cannot be shown: INVALID_FIELD of a field below prefix.
func (b Brand) Validate(prefix string) error {
	if b.LogoURL != "" && !public(b.LogoURL) {
		return fault.Invalid(prefix+".logo_url", "A logo is an https address at a public host name, of at most %d characters.", maxURL)
	}
	if _, ok := ParseColor(b.Accent); b.Accent != "" && !ok {
		return fault.Invalid(prefix+".accent_color", "A color is # and six hexadecimal digits.")
	}
	return nil
}

// public reports whether everybody could fetch a picture from there. Numbers and names without a dot
// lead into the network of whoever opens the mail.
func public(logo string) bool {
	if len(logo) > maxURL || !address.MatchString(logo) {
		return false
	}
	u, err := url.Parse(logo)
	if err != nil || u.User != nil || u.Fragment != "" {
		return false
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(strings.Trim(host, "."), ".") {
		return false
	}
	// "127.1" and "0x7f.0.0.1" are numbers to browsers, and so is every name whose last part begins with a digit.
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && (last[0] < '0' || last[0] > '9')
}

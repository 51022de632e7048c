// Package brand has a tenant's logo and accent color, and computes colors with enough contrast to be read.
package brand

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/berthhq/berth/internal/fault"
)

// Brand is a tenant's logo and accent color. An empty field means the default of Berth.
type Brand struct {
	// LogoURL is the https URL of an image. Browsers and mail clients fetch it. The service never does: otherwise a
	// tenant could make it send requests inside the service's network.
	LogoURL string
	Accent  string // #rrggbb
}

// maxURL is the length limit of a logo's URL, in characters.
const maxURL = 500

// urlPattern excludes characters that could end or split a URL in HTML, style sheets or headers.
var urlPattern = regexp.MustCompile("^https://[!#-&(-;=?-Z_a-z~]+$")

// Validate rejects an invalid logo or color: INVALID_FIELD, for a field below prefix.
func (b Brand) Validate(prefix string) error {
	if b.LogoURL != "" && !isPublicURL(b.LogoURL) {
		return fault.Invalid(prefix+".logo_url",
			"A logo is an https URL with a public host name and at most %d characters.", maxURL)
	}
	if _, ok := ParseColor(b.Accent); b.Accent != "" && !ok {
		return fault.Invalid(prefix+".accent_color", "A color is # and six hexadecimal digits.")
	}
	return nil
}

// isPublicURL reports whether a URL names a public host. An IP address or a name without a dot could point into the
// private network of the person who opens the mail.
func isPublicURL(logo string) bool {
	if len(logo) > maxURL || !urlPattern.MatchString(logo) {
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
	// Browsers read "127.1" and "0x7f.0.0.1" as IP addresses, and any name whose last part begins with a digit.
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && (last[0] < '0' || last[0] > '9')
}

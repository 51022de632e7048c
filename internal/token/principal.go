// Package token decides whose word a bearer token is. It verifies JSON Web
// Tokens of the issuers that are trusted, whose keys may change at any time, and
// issues Berth's own for service accounts and for development.
package token

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/berthhq/berth/internal/tenant"
)

// ServiceAccountPrefix begins the subject of a service account's token; its id follows.
const ServiceAccountPrefix = "sa:"

// Principal is who a verified token speaks for. It is shared by all requests
// that bring the token: whoever gets one must not change its Tenants.
type Principal struct {
	Subject string // the user, or "sa:<id>" for a service account
	Issuer  string
	Name    string // for display; may be empty
	Email   string // as the issuer says, for display; may be empty
	// Tenants are those the token is good for, sorted and distinct. What the
	// subject may do there is for its membership to say.
	Tenants []tenant.TenantID
	Expires time.Time // UTC, without the leeway that clocks are given
}

// GoodFor reports whether the token is good for a tenant.
func (p Principal) GoodFor(id tenant.TenantID) bool { return slices.Contains(p.Tenants, id) }

// Limits of what a claim may hold.
const (
	maxText    = 255 // bytes of sub, name and email
	maxTenants = 128 // more do not fit into maxToken
)

// The last moment that an RFC 3339 text, or Postgres, can hold comes later; times
// beyond this one overflow when something is added to them.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// principal reads the claims of a token whose signature, issuer, audience and times hold.
func principal(claims jwt.MapClaims, trust *Trust) (Principal, error) {
	var p Principal
	var err error
	if p.Subject, err = text(claims, "sub"); err != nil {
		return p, err
	}
	if p.Subject == "" {
		return p, refuse("The token names nobody: it needs the claim sub. Ask the issuer to set it.", nil)
	}
	if strings.HasPrefix(p.Subject, ServiceAccountPrefix) && !trust.ServiceAccounts {
		return p, refuse("This issuer may not speak for service accounts. Get a token by exchanging the account's key.", nil)
	}
	if p.Name, err = text(claims, "name"); err != nil {
		return p, err
	}
	if p.Email, err = text(claims, "email"); err != nil {
		return p, err
	}
	if p.Tenants, err = tenants(claims["tenants"]); err != nil {
		return p, err
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil || expires.After(endOfTime) {
		return p, refuse("The claim exp is no time of this era. Ask the issuer for tokens that expire.", err)
	}
	p.Expires = expires.UTC()
	p.Issuer = trust.Issuer
	return p, nil
}

// text reads a claim that ends up in rows and logs, which cannot hold every string.
func text(claims jwt.MapClaims, name string) (string, error) {
	value, ok := claims[name]
	if !ok || value == nil {
		return "", nil
	}
	s, ok := value.(string)
	if !ok || len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", refuse(fmt.Sprintf("The claim %s must be a text of at most %d bytes without control characters.", name, maxText), nil)
	}
	return s, nil
}

func tenants(claim any) ([]tenant.TenantID, error) {
	list, ok := claim.([]any)
	if !ok {
		return nil, refuse("The token needs the claim tenants: a list of the ids of the tenants it is good for. Ask the issuer to add it.", nil)
	}
	if len(list) > maxTenants {
		return nil, refuse(fmt.Sprintf("The claim tenants lists more than %d tenants. Get a token for those that you need.", maxTenants), nil)
	}
	ids := make([]tenant.TenantID, 0, len(list))
	for _, item := range list {
		s, _ := item.(string)
		id, err := tenant.Parse[tenant.TenantID](s)
		if err != nil || id.IsZero() {
			return nil, refuse("The claim tenants must list UUIDs only. Ask the issuer to correct it.", err)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b tenant.TenantID) int { return slices.Compare(a.UUID[:], b.UUID[:]) })
	return slices.Clip(slices.Compact(ids)), nil
}

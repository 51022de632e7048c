// Package token verifies bearer tokens: JSON Web Tokens of trusted issuers, whose keys may change at any time.
// It also issues Berth's own tokens for service accounts and for development.
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

// Principal is the subject of a verified token. All requests with the token share it,
// so callers must not change its Tenants and Members.
type Principal struct {
	Subject string // the user, or "sa:<id>" for a service account
	Issuer  string
	Own     bool   // Berth itself issued the token
	Name    string // for display; may be empty
	Email   string // as given by the issuer, for display; may be empty
	// Verified says that the issuer has verified the email address (OpenID Connect Core 1.0, section 5.1).
	Verified bool
	// Tenants are the tenants for which the token is valid, sorted and distinct.
	// What the subject may do there depends on its membership.
	Tenants []tenant.TenantID
	// Members are the members that the subject is in some of the tenants, if Berth itself signed them in.
	Members map[tenant.TenantID]tenant.MemberID
	Expires time.Time // UTC, without the leeway for clock skew

	SignedInAt time.Time // the claim auth_time; zero if the issuer does not state it
	ACR        string    // how the user signed in; empty if the issuer does not state it
	SignIn     string    // the sign-in with Berth itself that the token comes from; empty if there is none
}

// ValidFor reports whether the token is valid for a tenant.
func (p Principal) ValidFor(id tenant.TenantID) bool { return slices.Contains(p.Tenants, id) }

// SubjectIn returns who the subject is in a tenant: the member by id, if the token names one.
func (p Principal) SubjectIn(id tenant.TenantID) string {
	if m, ok := p.Members[id]; ok {
		return tenant.MemberSubject(m)
	}
	return p.Subject
}

// Limits of claims.
const (
	maxText    = 255 // bytes of sub, name and email
	maxTenants = 128 // more do not fit into maxToken
)

// newPrincipal reads the claims of a token whose signature, issuer, audience and times are valid.
func newPrincipal(claims jwt.MapClaims, trust *TrustedIssuer) (Principal, error) {
	var p Principal
	var err error
	if p.Subject, err = text(claims, "sub"); err != nil {
		return p, err
	}
	if p.Subject == "" {
		return p, unauthenticated("The token has no subject: it needs the claim sub. Ask the issuer to set it.", nil)
	}
	if strings.HasPrefix(p.Subject, tenant.AccountPrefix) && !trust.ServiceAccounts {
		return p, unauthenticated("This issuer may not issue tokens for service accounts. "+
			"Exchange the account's key for a token.", nil)
	}
	if tenant.IsReserved(p.Subject) && !trust.ServiceAccounts {
		return p, unauthenticated("The subject system, and those that begin with member:, are reserved. "+
			"Ask the issuer for another subject.", nil)
	}
	if p.Name, err = text(claims, "name"); err != nil {
		return p, err
	}
	if p.Email, err = text(claims, "email"); err != nil {
		return p, err
	}
	if p.ACR, err = text(claims, "acr"); err != nil {
		return p, err
	}
	if at, ok := claims["auth_time"].(float64); ok { // Verify has checked its range
		p.SignedInAt = time.Unix(int64(at), 0).UTC()
	}
	p.Verified, _ = claims["email_verified"].(bool)
	if p.Tenants, err = tenants(claims["tenants"]); err != nil {
		return p, err
	}
	if trust.ServiceAccounts { // to other issuers the claim means something else
		if p.Members, err = members(claims["members"], p.Tenants); err != nil {
			return p, err
		}
		if p.SignIn, err = text(claims, "sid"); err != nil {
			return p, err
		}
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return p, unauthenticated("The claim exp is missing. Ask the issuer for tokens that expire.", err)
	}
	p.Expires = expires.UTC()
	p.Issuer, p.Own = trust.Issuer, trust.ServiceAccounts
	return p, nil
}

// text reads a claim that is stored and logged, which not every string can be.
func text(claims jwt.MapClaims, name string) (string, error) {
	value, ok := claims[name]
	if !ok || value == nil {
		return "", nil
	}
	s, ok := value.(string)
	if !ok || len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", unauthenticated(fmt.Sprintf(
			"The claim %s must be a text of at most %d bytes without control characters.", name, maxText), nil)
	}
	return s, nil
}

func tenants(claim any) ([]tenant.TenantID, error) {
	list, ok := claim.([]any)
	if !ok {
		return nil, unauthenticated("The token needs the claim tenants: a list of the IDs of the tenants that it is valid "+
			"for. "+
			"Ask the issuer to add it.", nil)
	}
	if len(list) > maxTenants {
		return nil, unauthenticated(fmt.Sprintf(
			"The claim tenants lists more than %d tenants. Get a token for those that you need.", maxTenants), nil)
	}
	ids := make([]tenant.TenantID, 0, len(list))
	for _, item := range list {
		s, _ := item.(string)
		id, err := tenant.Parse[tenant.TenantID](s)
		if err != nil || id.IsZero() {
			return nil, unauthenticated("The claim tenants must list UUIDs only. Ask the issuer to correct it.", err)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b tenant.TenantID) int { return slices.Compare(a.UUID[:], b.UUID[:]) })
	return slices.Clip(slices.Compact(ids)), nil
}

// members reads which member the subject is in which tenant.
func members(claim any, in []tenant.TenantID) (map[tenant.TenantID]tenant.MemberID, error) {
	if claim == nil {
		return nil, nil
	}
	named, ok := claim.(map[string]any)
	if !ok || len(named) > maxTenants {
		return nil, unauthenticated(badMembers, nil)
	}
	found := make(map[tenant.TenantID]tenant.MemberID, len(named))
	for key, value := range named {
		id, err := tenant.Parse[tenant.TenantID](key)
		if err != nil || !slices.Contains(in, id) {
			return nil, unauthenticated(badMembers, err)
		}
		text, _ := value.(string)
		member, err := tenant.Parse[tenant.MemberID](text)
		if err != nil || member.IsZero() {
			return nil, unauthenticated(badMembers, err)
		}
		found[id] = member
	}
	return found, nil
}

const badMembers = "The claim members must name one member by ID in each of its tenants. Sign in again."

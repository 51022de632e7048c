package sending

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
)

const (
	// checkEvery is how often the records of a verified domain are looked up, and missingEvery how often while they are
	// not found.
	checkEvery   = 24 * time.Hour
	missingEvery = time.Hour
	// lapseAfter is how long they may be missing. Name servers have outages.
	lapseAfter = 72 * time.Hour

	// maxName leaves room for the names of the records in the 253 characters of a name in DNS.
	maxName = 200
	// maxFound is how much of another text is shown.
	maxFound = 500
)

// Domain is a tenant's address at a domain of its own, from which the platform's account sends its mails, with what the
// tenant publishes in DNS.
type Domain struct {
	Address string `json:"address"`
	// Token is random. That the domain has it in DNS proves that the tenant controls the domain.
	Token string `json:"token"`
	// Key is the RSA key that signs mails (PKCS #8), and Public is its public key (PKIX).
	Key    []byte `json:"key,omitempty"`
	Public []byte `json:"public"`

	VerifiedAt   time.Time `json:"verified_at,omitzero"`   // zero: not verified, or lapsed
	MissingSince time.Time `json:"missing_since,omitzero"` // zero: the records were found
	CheckAt      time.Time `json:"check_at,omitzero"`      // when they are looked up; zero: never
}

// NewDomain returns a domain without a key. It has to be one that can be registered or one below that, and not in a
// domain of the platform: SENDING_DOMAIN_INVALID.
func NewDomain(address string, platform ...string) (Domain, error) {
	const of = "senders.domain.from_address"
	if _, problem := field.Email(address); problem != "" {
		return Domain{}, fault.Invalid(of, "%s", problem)
	}
	at := strings.LastIndex(address, "@")
	name := strings.ToLower(address[at+1:])
	registered, err := publicsuffix.EffectiveTLDPlusOne(name)
	// A suffix that is not on the list is a name of a private network, or the end of an IP address.
	suffix, listed := publicsuffix.PublicSuffix(name)
	if err != nil || !listed && !strings.Contains(suffix, ".") || len(name) > maxName {
		return Domain{}, errInvalid(of, "%s is not a domain that can be registered.", name)
	}
	if slices.ContainsFunc(platform, func(host string) bool { return inDomain(host, registered) }) {
		return Domain{}, errInvalid(of, "%s belongs to the platform.", name)
	}
	return Domain{Address: address[:at+1] + name}, nil
}

func errInvalid(of, format, name string) error {
	return fault.New(fault.InvalidArgument, fault.DomainInvalid, format, name).WithField(of)
}

// inDomain reports whether a host of the platform is in a registered domain.
func inDomain(host, registered string) bool {
	host = strings.ToLower(host)
	return host == registered || strings.HasSuffix(host, "."+registered)
}

// Name is the domain's name.
func (d Domain) Name() string { return d.Address[strings.LastIndex(d.Address, "@")+1:] }

// Selector is the name of the key in DNS. Each key has one of its own, so that several tenants can use one domain.
func (d Domain) Selector() string {
	sum := sha256.Sum256(d.Public)
	return "berth-" + hex.EncodeToString(sum[:5])
}

// DNSRecord is a TXT record.
type DNSRecord struct {
	Name, Value string
	// alone says that the name must not have other texts.
	alone bool
}

// Records returns what the tenant has to publish: the proof of control, and the key (RFC 6376).
func (d Domain) Records() []DNSRecord {
	return []DNSRecord{
		{Name: "_berth." + d.Name(), Value: "berth=" + d.Token},
		{
			Name: d.Selector() + "._domainkey." + d.Name(), alone: true,
			Value: "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(d.Public),
		},
	}
}

// Unavailable means that the name servers do not answer for the record: DNS_UNAVAILABLE.
func (r DNSRecord) Unavailable() *fault.Error {
	return fault.New(fault.Unavailable, fault.DNSUnavailable, "The name servers do not answer for %s.", r.Name).
		WithMetadata("name", r.Name)
}

// Check compares the record with the texts that its name has: DNS_RECORD_MISSING, DNS_RECORD_DIFFERENT.
func (r DNSRecord) Check(found []string) *fault.Error {
	if len(found) == 0 {
		return fault.New(fault.FailedPrecondition, fault.DNSRecordMissing, "The TXT record %s is missing.", r.Name).
			WithMetadata("name", r.Name)
	}
	if slices.ContainsFunc(found, func(text string) bool { return plain(text) == plain(r.Value) }) &&
		(len(found) == 1 || !r.alone) {
		return nil
	}
	other := strings.ToValidUTF8(strings.Join(found, "\n"), "?")
	if len(other) > maxFound {
		other = strings.ToValidUTF8(other[:maxFound], "") + "…"
	}
	return fault.New(fault.FailedPrecondition, fault.DNSRecordDifferent, "The TXT record %s has another text.", r.Name).
		WithMetadata("name", r.Name).WithMetadata("found", other)
}

// plain is a text without what editors of DNS records add and remove: spaces, and the last semicolon.
func plain(text string) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(text), ""), ";")
}

// Looked returns the domain after its records were looked up, and whether it lapsed: it is no longer verified, because
// they have been missing for too long.
func (d Domain) Looked(found bool, now time.Time) (after Domain, lapsed bool) {
	if found {
		d.MissingSince, d.CheckAt = time.Time{}, now.Add(checkEvery)
		if d.VerifiedAt.IsZero() {
			d.VerifiedAt = now
		}
		return d, false
	}
	if d.MissingSince.IsZero() {
		d.MissingSince = now
	}
	d.CheckAt = now.Add(missingEvery)
	if lapsed = now.Sub(d.MissingSince) >= lapseAfter; lapsed {
		d.VerifiedAt, d.CheckAt = time.Time{}, time.Time{}
	}
	return d, lapsed
}

package contacts

import (
	"slices"

	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// LinkPath is the URL path of the links in mails that confirm an address.
const LinkPath = "/confirm/"

// linkPurpose keeps a signature from being used for other links.
const linkPurpose = "confirm"

// Link is what a link in a mail says: whose contact it confirms, and with which code.
type Link struct {
	Tenant tenant.TenantID
	Member tenant.MemberID
	Code   tenant.CodeID
}

// Caller is the member as a caller. The link is the permission.
func (l Link) Caller() tenant.Caller {
	return tenant.Caller{Tenant: l.Tenant, Member: l.Member, SelfOnly: true}
}

// WriteLink returns the last part of a link's URL.
func (c Codes) WriteLink(l Link) string {
	return c.Seals.Sign(l.Tenant, linkPurpose, slices.Concat(l.Member.UUID[:], l.Code.UUID[:]))
}

// ReadLink reads the last part of a link's URL. Errors: LINK_INVALID.
func (c Codes) ReadLink(text string) (Link, error) {
	in, payload, err := c.Seals.Verify(linkPurpose, text)
	l := Link{Tenant: in}
	if err != nil {
		return l, err
	}
	if len(payload) != len(l.Member.UUID)+len(l.Code.UUID) {
		return l, seal.ErrLinkInvalid
	}
	copy(l.Member.UUID[:], payload)
	copy(l.Code.UUID[:], payload[len(l.Member.UUID):])
	return l, nil
}

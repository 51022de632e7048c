// Package member has the rules for members: valid values of their fields, edits and imports.
package member

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Status says whether a membership is active.
type Status string

// The statuses.
const (
	Active   Status = "ACTIVE"
	Inactive Status = "INACTIVE"
)

// Member is a person's membership in a tenant. An unknown value is empty.
type Member struct {
	ID       tenant.MemberID
	Subject  string // the `sub` of the person's tokens; cannot be changed once set
	Name     string
	Email    string // unique in the tenant, ignoring case
	Phone    string // E.164
	Tier     string
	Tags     []string
	Roles    []string // by name
	Status   Status
	Locale   string // BCP 47; empty: the tenant's
	TimeZone string // IANA; empty: the tenant's
	Notes    string // for staff only

	// The contacts that are known to be the member's. See Confirmed.
	ConfirmedEmail, ConfirmedPhone string
	// SignInEmail is the address with which the member has signed in, by a code or a link that was sent to it. It stays
	// when others enter another one: see AddressInDoubt.
	SignInEmail string
	// EmailBy is who vouches for the address, as an actor: who entered it, or who invited the member to it. It is empty if
	// nobody is known to.
	EmailBy string
	// ByInvitation says that only an invitation signs the member in, because they have got permissions that EmailBy lacks.
	ByInvitation bool
	// LinkedByEmail says that the subject was linked because its issuer has verified the address.
	LinkedByEmail bool

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Active reports whether the membership is active.
func (m Member) Active() bool { return m.Status == Active }

// IsStaff reports whether the member has a role beyond that of all members.
func (m Member) IsStaff() bool {
	return slices.ContainsFunc(m.Roles, func(role string) bool { return role != tenant.RoleMember })
}

// IsOwner reports whether the member is an owner.
func (m Member) IsOwner() bool { return slices.Contains(m.Roles, tenant.RoleOwner) }

// IsActiveOwner reports whether the member is an active owner. A tenant always has at least one.
func (m Member) IsActiveOwner() bool { return m.Active() && m.IsOwner() }

// ErrLastOwner rejects a change that would leave a tenant without an active owner: LAST_OWNER.
var ErrLastOwner = fault.New(fault.FailedPrecondition, fault.LastOwner,
	"This is the last active owner. Make another member an owner first.")

// CheckRevoke rejects taking the role of owner from the last active owner: LAST_OWNER. Others says whether the tenant
// has another active one.
func (m Member) CheckRevoke(role string, others bool) error {
	if role == tenant.RoleOwner && m.IsActiveOwner() && !others {
		return ErrLastOwner
	}
	return nil
}

// Taken means that another member has the value of a field, which is called so: ALREADY_EXISTS.
func Taken(field, called string) *fault.Error {
	return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "A member has that %s.", called).
		WithField("member." + field)
}

// Edit checks an edit of a member. Self says whether they edit themselves, and others whether the tenant has another
// active owner. It returns the member to store and the names of the changed fields, nil if none changes. The errors are
// INVALID_FIELD, also for a subject that is already set, LAST_OWNER, and PERMISSION_DENIED for another owner's
// contacts: who can change where an owner's messages go could become that owner.
func Edit(before, after Member, self, others bool) (Member, []string, error) {
	after, err := after.NormalizeFrom(before)
	if err != nil {
		return before, nil, err
	}
	if before.Subject != "" && after.Subject != before.Subject {
		return before, nil, fault.Invalid("member.subject", "The subject is already set and cannot be changed.")
	}
	if before.IsActiveOwner() && !after.IsActiveOwner() && !others {
		return before, nil, ErrLastOwner
	}
	after.forgetConfirmed()
	changed := ChangedFields(before, after)
	if before.IsOwner() && !self {
		for _, field := range []string{"email", "phone"} {
			if slices.Contains(changed, field) {
				return before, nil, errOwnersContact.WithField("member." + field)
			}
		}
	}
	return after, changed, nil
}

var errOwnersContact = fault.New(fault.PermissionDenied, fault.PermissionDeniedReason,
	"Owners change their email address and phone number themselves.")

// ChangedFields returns the names, as in the contract, of the fields in which two versions differ.
func ChangedFields(before, after Member) []string {
	var names []string
	for _, f := range textFields {
		if *f.of(&before) != *f.of(&after) {
			names = append(names, f.name)
		}
	}
	if before.Status != after.Status {
		names = append(names, "status")
	}
	if !slices.Equal(before.Tags, after.Tags) {
		names = append(names, "tags")
	}
	return names
}

// AuditValues returns the values of the named fields, for the audit log.
func (m Member) AuditValues(names []string) map[string]any {
	values := make(map[string]any, len(names))
	for _, f := range textFields {
		if slices.Contains(names, f.name) {
			values[f.name] = *f.of(&m)
		}
	}
	if slices.Contains(names, "status") {
		values["status"] = string(m.Status)
	}
	if slices.Contains(names, "tags") {
		values["tags"] = slices.Clone(m.Tags)
	}
	return values
}

// AffectsSignIn reports whether a change of the named fields affects who can sign in.
func AffectsSignIn(changed []string) bool {
	return slices.Contains(changed, "status") || slices.Contains(changed, "subject")
}

// EndsSignIns reports whether an edit ends the sign-ins with Berth of the edited member, for good: one that deactivates
// them, or another's of their address, which says that somebody else may be at the old one.
func EndsSignIns(changed []string, after Member, self bool) bool {
	return !after.Active() || !self && slices.Contains(changed, "email")
}

// Search selects members. All fields that are set must match.
type Search struct {
	Query    string // part of a name, email or phone number, ignoring case and, in names, accents
	Role     string
	Tier     string
	Tag      string
	Statuses []Status
	// Import is the one that created them.
	Import tenant.ImportID
	// Invitable are only those who can be invited at the time Now, and have not been.
	Invitable bool
	Now       time.Time

	After *Cursor // the last member of the page before; nil for the first page
	Limit int
}

// Cursor is a member's position in the list, which is sorted by name, then id.
type Cursor struct {
	Name string
	ID   tenant.MemberID
}

// DeviceKind is the platform of the app on a device.
type DeviceKind string

// The device kinds.
const (
	IOS     DeviceKind = "IOS"
	Android DeviceKind = "ANDROID"
	Web     DeviceKind = "WEB"
)

// MaxDevices is the maximum number of devices of a member. A new one replaces the one that was seen longest ago.
const MaxDevices = 20

// Device is a device of a member that gets push notifications.
type Device struct {
	ID        tenant.DeviceID
	Member    tenant.MemberID
	Kind      DeviceKind
	CreatedAt time.Time
	SeenAt    time.Time
}

// DeviceSearch selects devices. All fields that are set must match.
type DeviceSearch struct {
	Member tenant.MemberID
	Kinds  []DeviceKind

	After tenant.DeviceID // the last device of the page before; zero for the first page
	Limit int
}

// Digits returns the query as a part of a phone number in stored form, or "" if it cannot be one.
func (s Search) Digits() string {
	digits := strings.Map(func(char rune) rune {
		if strings.ContainsRune(" ().-/", char) {
			return -1
		}
		return char
	}, s.Query)
	if strings.Trim(strings.TrimPrefix(digits, "+"), "0123456789") != "" {
		return ""
	}
	return digits
}

const maxToken = 4096

// CheckDeviceToken rejects a text that cannot be a registration token of a push provider: INVALID_FIELD.
func CheckDeviceToken(token string) error {
	if token == "" || utf8.RuneCountInString(token) > maxToken || strings.ContainsFunc(token, unicode.IsControl) {
		return fault.Invalid("token", "A device's token has 1 to %d characters and no control characters.", maxToken)
	}
	return nil
}

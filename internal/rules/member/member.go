// Package member decides what a membership may say of a person, and which edits
// of it a tenant allows.
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

// Status is whether a membership is in force.
type Status string

// The statuses.
const (
	Active   Status = "ACTIVE"
	Inactive Status = "INACTIVE"
)

// Member is a person's membership in a tenant. Texts that are not known are empty.
type Member struct {
	ID       tenant.MemberID
	Subject  string // the `sub` of the person's tokens; set once
	Name     string
	Email    string // unique in the tenant, without regard to case
	Phone    string // E.164
	Tier     string
	Tags     []string
	Roles    []string // by name
	Status   Status
	Locale   string // BCP 47; empty takes the tenant's
	TimeZone string // IANA; empty takes the tenant's
	Notes    string // for staff only

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Active reports whether the membership is in force.
func (m Member) Active() bool { return m.Status == Active }

// Owns reports whether the member counts as an owner: a tenant keeps at least one.
func (m Member) Owns() bool { return m.Active() && slices.Contains(m.Roles, tenant.RoleOwner) }

// ErrLastOwner refuses what would leave a tenant without an active owner: LAST_OWNER.
var ErrLastOwner = fault.New(fault.FailedPrecondition, fault.LastOwner, "They are the last active owner: make someone else an owner first.")

// Edit decides whether a member may become what an edit makes of them. Others
// reports whether another active owner is there. It gives the member to be
// stored, and the names of the fields that change, nil where none does. Errors:
// INVALID_FIELD (also for a subject that is set already), LAST_OWNER.
func Edit(before, after Member, others bool) (Member, []string, error) {
	after, err := after.Normal()
	if err != nil {
		return before, nil, err
	}
	if before.Subject != "" && after.Subject != before.Subject {
		return before, nil, fault.Invalid("member.subject", "The subject is set already and stays.")
	}
	if before.Owns() && !after.Owns() && !others {
		return before, nil, ErrLastOwner
	}
	return after, Changed(before, after), nil
}

// Changed names the fields, as the contract does, in which two versions differ.
func Changed(before, after Member) []string {
	var names []string
	for _, f := range texts {
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

// Values gives the named fields for the audit log.
func (m Member) Values(names []string) map[string]any {
	values := make(map[string]any, len(names))
	for _, f := range texts {
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

// Opens reports whether a change to the named fields changes who may come in.
func Opens(changed []string) bool {
	return slices.Contains(changed, "status") || slices.Contains(changed, "subject")
}

// Search chooses members. All that is set must hold.
type Search struct {
	Query  string // part of a name, email or phone number, without regard to case
	Role   string
	Tier   string
	Tag    string
	Status Status

	After *Position // nil: from the first
	Limit int
}

// Position is a member's place in the order of name, then id.
type Position struct {
	Name string
	ID   tenant.MemberID
}

// DeviceKind is what kind of app a device runs.
type DeviceKind string

// The kinds of device.
const (
	IOS     DeviceKind = "IOS"
	Android DeviceKind = "ANDROID"
	Web     DeviceKind = "WEB"
)

// MaxDevices is how many devices a member has at most. The one seen longest ago makes room.
const MaxDevices = 20

// Device is where push notifications reach a member.
type Device struct {
	ID        tenant.DeviceID
	Kind      DeviceKind
	CreatedAt time.Time
	SeenAt    time.Time
}

// Digits gives the part of a phone number that the query asks for, as numbers
// are kept, or "" where it is no part of one.
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

// CheckToken refuses what can be no registration token of a push provider.
func CheckToken(token string) error {
	if token == "" || utf8.RuneCountInString(token) > maxToken || strings.ContainsFunc(token, unicode.IsControl) {
		return fault.Invalid("token", "A device's token has 1 to %d characters, none of them control characters.", maxToken)
	}
	return nil
}

// Package catalog has a tenant's locations, resources and services, and its booking policy. The rules for sessions,
// bookings and check-in share its types.
package catalog

import (
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/tenant"
)

// Channel is the channel through which a booking is made.
type Channel string

// The channels.
const (
	Online Channel = "ONLINE"
	Phone  Channel = "PHONE"
	WalkIn Channel = "WALK_IN"
)

// The permissions to book and to hold for others.
const (
	CreateForOthers = "booking.create_for_others"
	HoldForOthers   = "booking.hold_for_others"
)

// CheckStaff rejects the channels of those who call and walk in unless the permission to act for others is there.
func (c Channel) CheckStaff(permission string, may tenant.Permissions) error {
	if (c == Phone || c == WalkIn) && !may[permission] {
		return fault.MissingPermission(permission).WithMetadata("channel", string(c)).WithField("channel")
	}
	return nil
}

// Channels returns all channels, which is also the default of a new location.
func Channels() []Channel { return []Channel{Online, Phone, WalkIn} }

// Delivery says how a service is delivered.
type Delivery string

// The deliveries.
const (
	InPerson Delivery = "IN_PERSON"
	Feed     Delivery = "FEED" // online, so check-in by GPS is impossible
)

// SessionSummary is what is shown of a session with what is about it, such as a booking.
type SessionSummary struct {
	ID           tenant.SessionID
	Title        string
	StartsAt     time.Time
	EndsAt       time.Time
	TimeZone     string // IANA, of the location
	Location     tenant.LocationID
	LocationName string
	CoachName    string // empty without a coach
	Service      tenant.ServiceID
}

// Tenant is an organization.
type Tenant struct {
	ID            tenant.TenantID
	Name          string
	TimeZone      string // IANA; applies if there is no location
	Locale        string // BCP 47
	Currency      string // ISO 4217
	TakesPayments bool   // members without an active plan cannot book
	// AuditMemberReads has the audit log record who reads members' personal pages.
	AuditMemberReads bool
	StepUp           StepUp
	Brand            brand.Brand
	Version          int
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// Point is a geographic position in degrees (WGS 84).
type Point struct{ Latitude, Longitude float64 }

// Location is a club, course or studio.
type Location struct {
	ID        tenant.LocationID
	Name      string
	TimeZone  string // IANA
	Address   string
	Point     *Point
	Channels  []Channel // enabled ones
	Active    bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Accepts reports whether the location accepts bookings through a channel.
func (l Location) Accepts(c Channel) bool { return slices.Contains(l.Channels, c) }

// Resource is a court, bay, tee, room or chair.
type Resource struct {
	ID        tenant.ResourceID
	Location  tenant.LocationID
	Name      string
	Kind      string
	Active    bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Service is a type of session, such as a class or a lesson.
type Service struct {
	ID                      tenant.ServiceID
	Name                    string
	Description             string
	Category                string
	Duration                time.Duration
	DefaultCapacity         *int // nil: unlimited
	DefaultWaitlistCapacity int
	MinParty                int
	MaxParty                int
	Delivery                Delivery
	Color                   string
	Active                  bool
	Version                 int
	CreatedAt               time.Time
	UpdatedAt               time.Time
}

// WithDefaults fills in omitted fields: a party of one, in person.
func (s Service) WithDefaults() Service {
	s.MinParty = cmp.Or(s.MinParty, 1)
	s.MaxParty = cmp.Or(s.MaxParty, s.MinParty)
	s.Delivery = cmp.Or(s.Delivery, InPerson)
	return s
}

// SessionState is the state of a session.
type SessionState string

// The states.
const (
	Draft     SessionState = "DRAFT"
	Published SessionState = "PUBLISHED"
	Cancelled SessionState = "CANCELLED"
)

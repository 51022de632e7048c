// Package catalog says what a tenant offers, where, and under which policy. Its
// words are shared by the packages that decide about sessions, bookings and check-in.
package catalog

import (
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/tenant"
)

// Channel is the way by which a booking comes in.
type Channel string

// The channels.
const (
	Online Channel = "ONLINE"
	Phone  Channel = "PHONE"
	WalkIn Channel = "WALK_IN"
)

// StaffOnly reports whether only staff may book through the channel.
func (c Channel) StaffOnly() bool { return c == Phone || c == WalkIn }

// Channels are all channels; a location starts with them.
func Channels() []Channel { return []Channel{Online, Phone, WalkIn} }

// Delivery is how a service reaches people.
type Delivery string

// The deliveries.
const (
	InPerson Delivery = "IN_PERSON"
	Feed     Delivery = "FEED" // online: nobody can be near it
)

// Tenant is an organization.
type Tenant struct {
	ID            tenant.TenantID
	Name          string
	TimeZone      string // IANA; for what has no location
	Locale        string // BCP 47
	Currency      string // ISO 4217
	TakesPayments bool   // whoever has no active plan cannot book
	Brand         brand.Brand
	Version       int
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Point is a place on earth in degrees (WGS 84).
type Point struct{ Latitude, Longitude float64 }

// Location is a club, course or studio.
type Location struct {
	ID        tenant.LocationID
	Name      string
	TimeZone  string // IANA
	Address   string
	Point     *Point
	Channels  []Channel // those that are on
	Active    bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Takes reports whether the location takes bookings through a channel.
func (l Location) Takes(c Channel) bool { return slices.Contains(l.Channels, c) }

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

// Service is what is offered.
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

// WithDefaults fills in what was left out: parties of one, in person.
func (s Service) WithDefaults() Service {
	s.MinParty = cmp.Or(s.MinParty, 1)
	s.MaxParty = cmp.Or(s.MaxParty, s.MinParty)
	s.Delivery = cmp.Or(s.Delivery, InPerson)
	return s
}

// SessionState is where a session is in its life.
type SessionState string

// The states.
const (
	Draft     SessionState = "DRAFT"
	Published SessionState = "PUBLISHED"
	Cancelled SessionState = "CANCELLED"
)

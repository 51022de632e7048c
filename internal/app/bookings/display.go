package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
)

// DisplayPath is the path of display links. Their token follows it.
const DisplayPath = "/display/"

// DisplayLink opens a session's display: a page for a public screen at the location.
type DisplayLink struct {
	URL     string
	Token   string // its signed part
	Expires time.Time
}

// CreateDisplayURL makes a display link.
func (s *Service) CreateDisplayURL(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID,
) (DisplayLink, error) {
	if err := s.checkTakesPlace(ctx, caller, session); err != nil {
		return DisplayLink{}, err
	}
	// A link works like a password, so it is not stored. Under an idempotency key the stored answer is the time, from
	// which the same link is signed again.
	spec := engine.Spec[time.Time]{Name: "display.create", Replay: true}
	now := func(_ context.Context, tx *engine.Tx) (time.Time, error) {
		tx.Audit("display_link.created", "session", session.UUID, "", nil)
		return tx.Now, nil
	}
	at, err := engine.Do(ctx, s.engine, caller, spec, now)
	if err != nil {
		return DisplayLink{}, err
	}
	token, expires := s.keys.SignDisplay(caller.Tenant, session, at)
	return DisplayLink{URL: s.publicURL + DisplayPath + token, Token: token, Expires: expires}, nil
}

// Display is what the screen shows of a session.
type Display struct {
	Tenant          string // its name
	Brand           brand.Brand
	Title, Location string
	Coach           string // empty if there is none
	Starts, Ends    time.Time
	TimeZone        string     // IANA
	Opens, Closes   time.Time  // self check-in
	Expected        int        // seats of confirmed and attended bookings
	Arrived         int        // seats of attended bookings
	Arrivals        []Arrival  // the most recent ones, latest first
	Upcoming        []Upcoming // the next sessions at the location, soonest first
	QR              string     // the text of the QR code; empty while check-in is closed
	// Now is when this was read. Refresh is when to read it again, and Next the token to read it with. Both are zero
	// once check-in has closed.
	Now, Refresh time.Time
	Next         string
}

// Upcoming is one of the next sessions.
type Upcoming = bookingdb.Upcoming

// Arrival is a party that has checked in.
type Arrival struct {
	Name  string // shortened, for a public screen
	Party int
	At    time.Time
}

const (
	maxArrivals = 50 // names; a screen has room for fewer
	maxUpcoming = 3  // sessions
)

// GetDisplay reads what the screen shows. It needs no sign-in: the link is signed by this service, names the tenant and
// the session, and is the permission.
func (s *Service) GetDisplay(ctx context.Context, link string) (Display, error) {
	now := s.engine.Now()
	shown, err := s.keys.VerifyDisplay(link, now)
	if err != nil {
		return Display{}, err
	}
	var owner *catalog.Tenant
	var slot *booking.Slot
	var wall *bookingdb.Display
	var arrivals []bookingdb.Arrival
	var upcoming []Upcoming
	var batch pg.Batch
	accountdb.FindTenant(&batch, shown.Tenant, &owner)
	bookingdb.FindSlot(&batch, shown.Tenant, shown.Session, &slot)
	bookingdb.FindDisplay(&batch, shown.Tenant, shown.Session, &wall)
	bookingdb.ListArrivals(&batch, shown.Tenant, shown.Session, maxArrivals, &arrivals)
	bookingdb.ListUpcoming(&batch, shown.Tenant, shown.Session, now, maxUpcoming, &upcoming)
	if err := s.engine.Read(ctx, tenant.Caller{Tenant: shown.Tenant}, &batch); err != nil {
		return Display{}, err
	}
	if owner == nil || slot == nil || wall == nil || slot.State == catalog.Cancelled {
		return Display{}, seats.ErrNoSession
	}
	w := CheckInWindow(*slot)
	d := Display{
		Tenant: owner.Name, Brand: owner.Brand, Title: slot.Title, Location: wall.Location, Coach: wall.Coach,
		Starts: slot.StartsAt, Ends: slot.EndsAt, TimeZone: slot.TimeZone,
		Opens: w.Opens(slot.StartsAt), Closes: w.Closes(slot.EndsAt),
		Expected: wall.Expected, Arrived: wall.Arrived, Upcoming: upcoming, Now: now,
	}
	for _, a := range arrivals {
		d.Arrivals = append(d.Arrivals, Arrival{Name: checkin.DisplayName(a.Name), Party: a.Party, At: a.At})
	}
	if !now.Before(d.Closes) {
		return d, nil
	}
	d.Next, _ = s.keys.SignDisplay(shown.Tenant, shown.Session, now)
	d.Refresh = earliest(now.Add(checkin.QRInterval), d.Closes)
	if now.Before(d.Opens) {
		d.Refresh = earliest(d.Refresh, d.Opens)
	} else {
		d.QR = s.qrToken(shown.Tenant, shown.Session, now).Text
	}
	return d, nil
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

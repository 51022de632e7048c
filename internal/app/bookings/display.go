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

// DisplayPath is where display links lead, in front of their token.
const DisplayPath = "/display/"

// DisplayLink opens a session's page for the studio's wall.
type DisplayLink struct {
	URL     string
	Token   string // its signed part
	Expires time.Time
}

// CreateDisplayURL makes a display link.
func (s *Service) CreateDisplayURL(ctx context.Context, caller tenant.Caller, session tenant.SessionID) (DisplayLink, error) {
	if err := s.takesPlace(ctx, caller, session); err != nil {
		return DisplayLink{}, err
	}
	// Nothing is written but the time, for whoever asks for the same link again: a link is as good as a password.
	var at time.Time
	err := s.engine.Write(ctx, caller, "display.create", func(_ context.Context, tx *engine.Tx) error {
		at = tx.Now
		return nil
	}, engine.Answers(&at))
	if err != nil {
		return DisplayLink{}, err
	}
	token, expires := s.keys.SignDisplay(caller.Tenant, session, at)
	return DisplayLink{URL: s.publicURL + DisplayPath + token, Token: token, Expires: expires}, nil
}

// Display is what the wall shows of a session.
type Display struct {
	Tenant          string // its name
	Brand           brand.Brand
	Title, Location string
	Coach           string // empty where there is none
	Starts, Ends    time.Time
	TimeZone        string     // IANA
	Opens, Closes   time.Time  // self check-in
	Expected        int        // seats of those who are coming or have come
	Arrived         int        // seats of those who have come
	Arrivals        []Arrival  // the latest, latest first
	Upcoming        []Upcoming // what follows at the location, soonest first
	QR              string     // the text of the code; empty while check-in is closed
	// Now is when it was so. Refresh is when to look again, and Next the link to do it
	// with; both are zero once check-in has closed.
	Now, Refresh time.Time
	Next         string
}

// Upcoming is a session that follows.
type Upcoming = bookingdb.Upcoming

// Arrival is a party that has come.
type Arrival struct {
	Name  string // as strangers may read it
	Party int
	At    time.Time
}

// maxArrivals is how many names are shown. A wall has room for fewer.
const maxArrivals = 50

// maxUpcoming is how many sessions that follow are shown.
const maxUpcoming = 3

// GetDisplay reads what the wall shows. Nobody signs in for it: the link, signed by this
// service, is the permission, and says which tenant and session it is for.
func (s *Service) GetDisplay(ctx context.Context, link string) (Display, error) {
	now := s.engine.Now()
	shown, err := s.keys.VerifyDisplay(link, now)
	if err != nil {
		return Display{}, err
	}
	var who *catalog.Tenant
	var slot *booking.Slot
	var wall *bookingdb.Display
	var arrivals []bookingdb.Arrival
	var upcoming []Upcoming
	var batch pg.Batch
	accountdb.FindTenant(&batch, shown.Tenant, &who)
	bookingdb.FindSlot(&batch, shown.Tenant, shown.Session, &slot)
	bookingdb.FindDisplay(&batch, shown.Tenant, shown.Session, &wall)
	bookingdb.ListArrivals(&batch, shown.Tenant, shown.Session, maxArrivals, &arrivals)
	bookingdb.ListUpcoming(&batch, shown.Tenant, shown.Session, now, maxUpcoming, &upcoming)
	if err := s.engine.Read(ctx, tenant.Caller{Tenant: shown.Tenant}, &batch); err != nil {
		return Display{}, err
	}
	if who == nil || slot == nil || wall == nil || slot.State == catalog.Cancelled {
		return Display{}, seats.ErrNoSession
	}
	w := CheckInWindow(*slot)
	d := Display{
		Tenant: who.Name, Brand: who.Brand,
		Title: slot.Title, Location: wall.Location, Coach: wall.Coach, Starts: slot.StartsAt, Ends: slot.EndsAt, TimeZone: slot.TimeZone,
		Opens: w.Opens(slot.StartsAt), Closes: w.Closes(slot.EndsAt), Expected: wall.Expected, Arrived: wall.Arrived, Upcoming: upcoming, Now: now,
	}
	for _, r := range arrivals {
		d.Arrivals = append(d.Arrivals, Arrival{Name: checkin.DisplayName(r.Name), Party: r.Party, At: r.At})
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

package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// DisplayPath is the path of display links. Their token follows it.
const DisplayPath = "/display/"

// DisplayURL opens a session's display: a page for a public screen at the location.
type DisplayURL struct {
	Link  checkin.DisplayLink
	URL   string
	Token string // its signed part
}

// CreateDisplayLink makes a display link.
func (s *Service) CreateDisplayLink(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID,
) (DisplayURL, error) {
	// A token works like a password, so it is not stored. Under an idempotency key the same link is signed again.
	t := engine.Transaction{Name: "display_link.create", Replay: true}
	create := func(ctx context.Context, tx *engine.Tx) (checkin.DisplayLink, error) {
		var slot *booking.Slot
		var links int
		var batch pg.Batch
		bookingdb.FindSlot(&batch, tx.Tenant, session, &slot)
		bookingdb.CountDisplayLinks(&batch, tx.Tenant, session, &links)
		if err := tx.Load(ctx, &batch); err != nil {
			return checkin.DisplayLink{}, err
		}
		if err := takesPlace(slot); err != nil {
			return checkin.DisplayLink{}, err
		}
		link, err := checkin.NewDisplayLink(
			tenant.NextID[tenant.DisplayLinkID](tx.IDs), session, links, tx.Caller.Actor(), tx.Now)
		if err != nil {
			return checkin.DisplayLink{}, err
		}
		bookingdb.InsertDisplayLink(tx.Tx, tx.Tenant, link)
		auditDisplay(tx, "display_link.created", link)
		return link, nil
	}
	link, err := engine.Transact(ctx, s.engine, caller, t, create)
	if err != nil {
		return DisplayURL{}, err
	}
	shown := checkin.Display{Tenant: caller.Tenant, Session: session, Link: link.ID, Expires: link.Expires()}
	token, _ := s.keys.SignDisplay(shown, link.CreatedAt)
	return DisplayURL{Link: link, URL: s.publicURL + DisplayPath + token, Token: token}, nil
}

func auditDisplay(tx *engine.Tx, action string, link checkin.DisplayLink) {
	record.Audit(tx, action, "session", link.Session.UUID, "", map[string]any{"display_link_id": link.ID.String()})
}

// ListDisplayLinks reads the display links of a session, the latest first.
func (s *Service) ListDisplayLinks(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID,
) (links []checkin.DisplayLink, err error) {
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, caller.Tenant, session, &slot)
	bookingdb.ListDisplayLinks(&batch, caller.Tenant, session, checkin.MaxDisplayLinks, &links)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if slot == nil {
		return nil, seats.ErrNoSession
	}
	return links, nil
}

// RevokeDisplayLink ends a display link: no screen can read the display with it, or renew it. Revoking it again
// changes nothing.
func (s *Service) RevokeDisplayLink(
	ctx context.Context, caller tenant.Caller, id tenant.DisplayLinkID,
) (checkin.DisplayLink, error) {
	t := engine.Transaction{Name: "display_link.revoke", Replay: true}
	revoke := func(ctx context.Context, tx *engine.Tx) (checkin.DisplayLink, error) {
		link, err := findDisplayLink(ctx, tx, id)
		if err != nil {
			return link, err
		}
		revoked, changed := link.Revoke(tx.Caller.Actor(), tx.Now)
		if changed {
			bookingdb.UpdateDisplayLink(tx.Tx, tx.Tenant, revoked)
			auditDisplay(tx, "display_link.revoked", revoked)
		}
		return revoked, nil
	}
	return engine.Transact(ctx, s.engine, caller, t, revoke)
}

// openDisplay makes a screen the one that renews the link, if it has none yet. Otherwise it records that there is a
// second one.
func (s *Service) openDisplay(ctx context.Context, shown checkin.Display) (checkin.DisplayLink, error) {
	t := engine.Transaction{Name: "display.open"}
	open := func(ctx context.Context, tx *engine.Tx) (checkin.DisplayLink, error) {
		link, err := findDisplayLink(ctx, tx, shown.Link)
		switch {
		case err != nil:
			return link, err
		case link.Opens(shown):
			link = link.Open(shown.Screen, tx.Now)
		case link.IsSecond(shown):
			link.SecondAt = tx.Now
			auditDisplay(tx, "display_link.second_screen", link)
			record.Event(tx, outbox.Event{
				Session: link.Session, Data: event.DisplaySecondScreen{Link: link.ID}, Facts: event.NoFacts,
			})
		default:
			return link, nil
		}
		bookingdb.UpdateDisplayLink(tx.Tx, tx.Tenant, link)
		return link, nil
	}
	return engine.Transact(ctx, s.engine, tenant.System(shown.Tenant), t, open)
}

func findDisplayLink(
	ctx context.Context, tx *engine.Tx, id tenant.DisplayLinkID,
) (checkin.DisplayLink, error) {
	var link *checkin.DisplayLink
	var batch pg.Batch
	bookingdb.FindDisplayLink(&batch, tx.Tenant, id, &link)
	if err := tx.Load(ctx, &batch); err != nil {
		return checkin.DisplayLink{}, err
	}
	if link == nil {
		return checkin.DisplayLink{}, errNoDisplayLink
	}
	return *link, nil
}

var errNoDisplayLink = fault.Missing(fault.DisplayLinkNotFound, "Display link")

// MadeDisplay reports whether a token of a display was made by the service, and has not expired.
func (s *Service) MadeDisplay(token string) bool {
	_, err := s.keys.VerifyDisplay(token, s.engine.Now())
	return err == nil
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
	// Now is when this was read. Refresh is when to read it again, and Next the token to read it with. They are zero
	// once check-in has closed.
	Now, Refresh time.Time
	Next         string
	Expires      time.Time // of Next
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

// GetCheckInDisplay reads what the screen shows. It needs no sign-in: the token is signed by this service, names the
// tenant and the session, and is the permission.
func (s *Service) GetCheckInDisplay(ctx context.Context, token string) (Display, error) {
	now := s.engine.Now()
	shown, err := s.keys.VerifyDisplay(token, now)
	if err != nil {
		return Display{}, err
	}
	var owner *catalog.Tenant
	var link *checkin.DisplayLink
	var slot *booking.Slot
	var display *bookingdb.Display
	var arrivals []bookingdb.Arrival
	var upcoming []Upcoming
	var batch pg.Batch
	accountdb.FindTenant(&batch, shown.Tenant, &owner)
	bookingdb.FindDisplayLink(&batch, shown.Tenant, shown.Link, &link)
	bookingdb.FindSlot(&batch, shown.Tenant, shown.Session, &slot)
	bookingdb.FindDisplay(&batch, shown.Tenant, shown.Session, &display)
	bookingdb.ListArrivals(&batch, shown.Tenant, shown.Session, maxArrivals, &arrivals)
	bookingdb.ListUpcoming(&batch, shown.Tenant, shown.Session, now, maxUpcoming, &upcoming)
	if err := s.engine.Read(ctx, tenant.Caller{Tenant: shown.Tenant}, &batch); err != nil {
		return Display{}, err
	}
	if owner == nil || slot == nil || display == nil || slot.State == catalog.Cancelled {
		return Display{}, seats.ErrNoSession
	}
	if link == nil { // swept
		return Display{}, checkin.ErrLinkInvalid
	}
	if link.Opens(shown) || link.IsSecond(shown) {
		if *link, err = s.openDisplay(ctx, shown); err != nil {
			return Display{}, err
		}
	}
	next, err := link.Renew(shown, tenant.New[tenant.ScreenID](now), now)
	if err != nil {
		return Display{}, err
	}
	w := CheckInWindow(*slot)
	d := Display{
		Tenant: owner.Name, Brand: owner.Brand, Title: slot.Title, Location: display.Location, Coach: display.Coach,
		Starts: slot.StartsAt, Ends: slot.EndsAt, TimeZone: slot.TimeZone,
		Opens: w.Opens(slot.StartsAt), Closes: w.Closes(slot.StartsAt, slot.EndsAt),
		Expected: display.Expected, Arrived: display.Arrived, Upcoming: upcoming, Now: now,
	}
	for _, a := range arrivals {
		d.Arrivals = append(d.Arrivals, Arrival{Name: checkin.DisplayName(a.Name), Party: a.Party, At: a.At})
	}
	if !now.Before(d.Closes) {
		return d, nil
	}
	d.Next, d.Expires = s.keys.SignDisplay(next, now)
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

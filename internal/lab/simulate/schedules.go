package simulate

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// publish creates the session of an occurrence and publishes it.
func (w *world) publish(u *service, series session.Series, o session.Occurrence) (*sessionRow, error) {
	s := &sessionRow{location: u.location, service: u, autoNoShows: make(map[tenant.BookingID]bool)}
	at := session.References{
		Service: session.ServiceReference{
			Active: true, Name: series.Title, Duration: u.duration, Delivery: catalog.InPerson,
		},
		Location: session.LocationReference{Active: true, TimeZone: u.location.name, Zone: u.location.zone},
	}
	return s, w.transact(Operation{Name: "publish"}, func() error {
		s.Session = series.NewSession(id[tenant.SessionID](&w.tables), o, at, w.now)
		insert(&w.tables, w.sessions, s.ID, s)
		appendTo(&w.tables, &w.sessionList, s)
		w.markTouched(s)
		w.emit(Event{Kind: Published, Session: s.ID, Capacity: s.Capacity, schedule: s})
		return w.fillOpenSeats(s, waitlist.ByPublish)
	})
}

func (w *world) fillOpenSeats(s *sessionRow, trigger waitlist.Trigger) error {
	slot := s.slot()
	return w.fill(s, &slot, trigger)
}

func (w *world) block(s *sessionRow, blocked bool) error {
	return w.transact(Operation{Name: "block", Session: s.ID, On: blocked}, func() error {
		turn := session.Session.Unblock
		if blocked {
			turn = func(other session.Session, now time.Time) (session.Session, bool, error) {
				return other.Block("repairs", now)
			}
		}
		after, changed, err := turn(s.Session, w.now)
		if err != nil || !changed {
			return err
		}
		w.markTouched(s)
		s.Session = after
		if blocked {
			w.emit(Event{Kind: Blocked, Session: s.ID})
			w.withdraw(s, waitlist.OffSale)
			return nil
		}
		w.emit(Event{Kind: Unblocked, Session: s.ID})
		return w.fillOpenSeats(s, waitlist.ByUnblock)
	})
}

func (w *world) resize(s *sessionRow, capacity int) error {
	return w.transact(Operation{Name: "resize", Session: s.ID, Party: capacity}, func() error {
		withdrawn := s.SeatsTaken
		if capacity < s.SeatsTaken {
			w.withdrawSeats(s, waitlist.FewerSeats, s.SeatsTaken-capacity)
		}
		withdrawn -= s.SeatsTaken
		was := s.Session
		at := session.References{
			Service:  session.ServiceReference{Active: true, Duration: s.service.duration, Delivery: catalog.InPerson},
			Location: session.LocationReference{Active: true, TimeZone: s.location.name, Zone: s.location.zone},
		}
		after, err := was.Edit(session.Input{Capacity: &capacity}, session.CapacityField, at, w.now)
		if err != nil || after.Version == was.Version {
			return err
		}
		w.markTouched(s)
		s.Session = after
		w.emit(Event{Kind: Resized, Session: s.ID, Capacity: after.Capacity})
		if after.CapacityRaised(was) {
			return w.fillOpenSeats(s, waitlist.ByCapacity)
		}
		if withdrawn > 0 {
			return w.fillOpenSeats(s, waitlist.ByWithdrawal)
		}
		return nil
	})
}

// cancelSession cancels a session with its bookings, offers and entries.
func (w *world) cancelSession(s *sessionRow) error {
	return w.transact(Operation{Name: "cancel a session", Session: s.ID}, func() error {
		after, changed, err := s.Cancel("illness", w.now)
		if err != nil || !changed {
			return err
		}
		if err := s.CheckEnded(false, w.now); err != nil {
			return err
		}
		w.withdraw(s, waitlist.SessionGone)
		payers := make(map[tenant.SubscriptionID]*credit.Subscription)
		for _, b := range slices.Clone(s.bookings) {
			if b.Status == booking.Cancelled || b.Status == booking.Expired {
				continue
			}
			read, _ := w.load(b)
			if _, seen := payers[read.Subscription]; read.Credits > 0 && !seen {
				payers[read.Subscription] = w.payerOf(read)
			}
			c, err := booking.Cancel(
				read, payers[read.Subscription], booking.CancelRequest{Actor: "member", SessionGone: true}, w.now,
			)
			if err != nil {
				return err
			}
			w.applyCancel(s, c, true, true)
		}
		for _, e := range slices.Clone(s.entries) {
			if len(e.AnyOf) > 0 && slices.ContainsFunc(e.AnyOf, func(id tenant.SessionID) bool { return id != s.ID }) {
				w.removePlaces(e, s)
				continue
			}
			if err := w.leaveWaitlist(e, waitlist.LeaveOptions{}); err != nil {
				return err
			}
		}
		w.markTouched(s)
		taken, waiting, holds := s.SeatsTaken, s.Waiting, s.Holds
		s.Session = after
		s.SeatsTaken, s.Waiting, s.Holds = taken, waiting, holds // counters change with the rows that they count
		w.emit(Event{Kind: SessionCancelled, Session: s.ID})
		return nil
	})
}

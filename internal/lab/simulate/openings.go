package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// awaitOpening has a session filled when booking opens.
func (w *world) awaitOpening(s *sessionRow) {
	if s.openingDue {
		return
	}
	saveForUndo(&w.tables, &s.openingDue)
	s.openingDue = true
	slot := s.slot()
	late := w.randomDuration(maxAlarmDelay).Truncate(time.Microsecond)
	w.schedule(slot.Opens().Add(late), func() { w.mustSucceed(w.onItsOwn("opening", w.openBookings)) })
}

// openBookings fills the sessions whose booking has opened, for who waited for that.
func (w *world) openBookings() error {
	if w.bug == neverFillOpening {
		return nil
	}
	for _, s := range w.sessionList {
		slot := s.slot()
		if !slot.OpeningDue || w.now.Before(slot.Opens()) {
			continue
		}
		err := w.transact(Operation{Name: "open booking", Session: s.ID}, func() error {
			_, err := w.fillOpening(s, &slot)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fillOpening gives half of a session's open seats to who waited for booking to open, once it has. It reports whether
// there was something to do.
func (w *world) fillOpening(s *sessionRow, slot *booking.Slot) (opened bool, err error) {
	if !slot.OpeningDue || w.now.Before(slot.Opens()) || w.bug == neverFillOpening {
		return false, nil
	}
	saveForUndo(&w.tables, &s.openingDue)
	s.openingDue, slot.OpeningDue = false, false
	w.markTouched(s)
	w.emit(Event{Kind: BookingOpened, Session: s.ID})
	by := waitlist.ByOpening
	if w.bug == giveAllAtOpening {
		by = waitlist.ByPublish
	}
	return true, w.fillSeats(s, slot, by, nil)
}

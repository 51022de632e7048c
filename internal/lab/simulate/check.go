package simulate

import (
	"fmt"
	"slices"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// compare compares sessions, and the members of the transaction's events, with the model.
func (w *world) compare(rows []*sessionRow) error {
	for _, s := range rows {
		if err := w.compareRow(s); err != nil {
			return fmt.Errorf("session %s: %w", short(s.ID.UUID), err)
		}
	}
	for _, ev := range w.events {
		if member := w.membersByID[ev.Member]; member != nil {
			if err := w.compareMember(member); err != nil {
				return fmt.Errorf("member %s: %w", short(member.ID.UUID), err)
			}
		}
	}
	return nil
}

func (w *world) compareRow(s *sessionRow) error {
	m := w.model.sessions[s.ID]
	if m == nil {
		return fmt.Errorf("the model has no such session")
	}
	holds, waiting := 0, 0
	for _, b := range m.bookings {
		kept := w.bookings[b.id]
		if kept.Status != b.status && (b.status != booking.Expired || kept.Status != booking.Cancelled) {
			return fmt.Errorf("booking %s is %s, and should be %s", short(b.id.UUID), kept.Status, b.status)
		}
		if kept.Credits != b.credits {
			return fmt.Errorf("booking %s holds %d credits, and should hold %d", short(b.id.UUID), kept.Credits, b.credits)
		}
		if b.status == booking.Pending {
			if holds++; w.now.Sub(b.until) >= maxAlarmDelay {
				return fmt.Errorf("hold %s expired at %s", short(b.id.UUID), b.until)
			}
		}
	}
	for _, o := range m.offers {
		switch {
		case !o.live:
		case w.now.Sub(o.until) >= maxAlarmDelay:
			return fmt.Errorf("offer %s expired at %s", short(o.id.UUID), o.until)
		case o.until.After(s.EndsAt),
			o.until.After(s.StartsAt) && !w.rulesEdited && o.until.After(m.fillsUntil(s.StartsAt)):
			return fmt.Errorf("offer %s ends after booking closes", short(o.id.UUID))
		}
	}
	for _, e := range w.model.entries {
		if slices.Contains(e.sessions, m) {
			waiting++
		}
	}
	for _, r := range s.rounds {
		switch want := w.model.rounds[r.ID]; {
		case r.Freed != want.freed || r.Keeps != want.keeps || r.Keeps > 0 && r.Closed != nil:
			return fmt.Errorf("round %s is %+v, and should be %+v", short(r.ID.UUID), *r, *want)
		case want.reservedSeats() > want.freed:
			return fmt.Errorf("round %s offers %d of %d freed seats", short(r.ID.UUID), want.reservedSeats(), want.freed)
		}
	}
	seats := m.seats()
	switch {
	case s.SeatsTaken != seats:
		return fmt.Errorf("seats taken are %d, and should be %d", s.SeatsTaken, seats)
	case s.Capacity != nil && seats > *s.Capacity:
		return fmt.Errorf("%d of %d seats are taken", seats, *s.Capacity)
	case s.Holds != holds:
		return fmt.Errorf("holds are %d, and should be %d", s.Holds, holds)
	case s.Waiting != waiting || len(s.entries) != waiting:
		return fmt.Errorf("waiting are %d, and should be %d", s.Waiting, waiting)
	}
	return nil
}

func (w *world) compareMember(member *memberRow) error {
	m := w.model.members[member.ID]
	for _, u := range member.subs {
		if err := w.compareSubscription(m, u); err != nil {
			return fmt.Errorf("subscription %s: %w", short(u.ID.UUID), err)
		}
	}
	if len(member.entries) != len(m.entries) {
		return fmt.Errorf("%d entries wait, and %d should", len(member.entries), len(m.entries))
	}
	for _, e := range member.entries {
		want := w.model.entries[e.ID]
		if want == nil || want.Status != e.Status || want.Tries != e.Tries || want.PassedOver != e.PassedOver {
			return fmt.Errorf("entry %s is %s after %d offers, skipped because of %q, which differs from the model",
				short(e.ID.UUID), e.Status, e.Tries, e.PassedOver)
		}
	}
	seen := make(map[tenant.SessionID]bool)
	for _, b := range member.bookings {
		if b.Status.Active() {
			if seen[b.Session] {
				return fmt.Errorf("there are two bookings in session %s", short(b.Session.UUID))
			}
			seen[b.Session] = true
		}
	}
	return nil
}

func (w *world) compareSubscription(m *modelMember, u *subscription) error {
	sum := 0
	for _, line := range u.ledger {
		if sum += line.Amount; sum < 0 || sum != line.Balance {
			return fmt.Errorf("line %d makes %d", line.Number, sum)
		}
	}
	if sum != u.Balance || len(u.ledger) != u.Lines {
		return fmt.Errorf("its %d lines make %d, and the balance is %d", len(u.ledger), sum, u.Balance)
	}
	if u.Plan.Kind != credit.Credits && len(u.ledger) > 0 {
		return fmt.Errorf("credits moved on a plan of the kind %s", u.Plan.Kind)
	}
	want := w.model.subs[u.ID]
	want.advance(w.now)
	if is, _ := credit.Advance(u.Subscription, w.now); is.Balance != want.balance || is.Status != want.status {
		return fmt.Errorf(
			"it is %s with %d credits, and should be %s with %d", is.Status, is.Balance, want.status, want.balance,
		)
	}
	if !u.Plan.HasQuota() {
		return nil
	}
	for _, b := range m.bookings {
		if b.sub != want {
			continue
		}
		day, week := m.used(want, b.session, nil)
		on := w.sessions[b.session.id].LocalDate
		if u.used[usage{on: on}] != day || u.used[usage{week: true, on: on.WeekStart()}] != week {
			return fmt.Errorf("quotas say %d on %s and %d in its week, and bookings %d and %d", u.used[usage{on: on}], on,
				u.used[usage{week: true, on: on.WeekStart()}], day, week)
		}
	}
	return nil
}

// compareAll compares all sessions and members with the model.
func (w *world) compareAll() error {
	if err := w.compare(w.sessionList); err != nil {
		return w.fail("%v", err)
	}
	for _, m := range w.members {
		if err := w.compareMember(m); err != nil {
			return w.fail("member %s: %v", short(m.ID.UUID), err)
		}
	}
	return nil
}

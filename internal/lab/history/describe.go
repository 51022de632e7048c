package history

import (
	"fmt"
	"slices"
	"strings"
)

// seatsOf describes a roster, with the places with seats ordered by number.
func seatsOf(seats []Seat) string {
	sorted := slices.Clone(seats)
	slices.SortStableFunc(sorted, byStatus)
	return describeSeats(sorted)
}

func describeSeats(seats []Seat) string {
	var text strings.Builder
	for _, s := range seats {
		fmt.Fprintf(&text, "%d%c ", s.Place, s.Status)
	}
	return text.String()
}

func (st *sessionState) describe() string {
	var text strings.Builder
	for _, p := range st.places {
		fmt.Fprintf(&text, "#%d m%d×%d%c", p.number, p.member, p.party, p.status)
		if p.round > 0 {
			fmt.Fprintf(&text, " for %d of %d kept", p.round, st.rounds[p.round-1].reserved)
		}
		if p.session > 0 {
			fmt.Fprintf(&text, " in %d", p.session+1)
		}
		text.WriteString("  ")
	}
	return text.String()
}

// describe describes the call and its result in a line.
func (op Operation) describe() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s", op.Kind)
	if op.Place > 0 {
		fmt.Fprintf(&text, " #%d", op.Place)
	}
	for _, number := range op.Ended {
		fmt.Fprintf(&text, " #%d", number)
	}
	if op.Offer > 0 {
		fmt.Fprintf(&text, " by offer %d", op.Offer)
	}
	fmt.Fprintf(&text, " (member %d", op.Member)
	if op.Party > 1 {
		fmt.Fprintf(&text, ", %d seats", op.Party)
	}
	fmt.Fprintf(&text, ") → %s", op.Outcome)
	switch {
	case op.Reason != "":
		fmt.Fprintf(&text, " %s", op.Reason)
	case op.Position > 0:
		fmt.Fprintf(&text, " at %d", op.Position)
	case op.Promoted > 0:
		fmt.Fprintf(&text, ", %d promoted", op.Promoted)
	case op.Kind == Look:
		fmt.Fprintf(&text, " %s", describeSeats(op.Seen))
	}
	if op.Moved != 0 || op.Kind == Balance {
		fmt.Fprintf(&text, " [%+d, %d left]", op.Moved, op.Left)
	}
	return text.String()
}

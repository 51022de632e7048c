package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// CheckManualOffer rejects an offer by staff to an entry that has a live one: WAITLIST_ENTRY_STATE.
func (e Entry) CheckManualOffer() error {
	if e.Status == Offered {
		return wrongState(e, "The entry has a live offer.")
	}
	return nil
}

// NewManualOffer begins an offer that staff make to one entry. It ends at until; the zero time means as the rules say.
func NewManualOffer(s FillFacts, e Entry, until time.Time) (*Fill, error) {
	grant := ManualGrant(e.Candidate(), s.Slot, s.Rules, s.Now)
	if !until.IsZero() {
		if !until.After(s.Now) || until.After(s.Slot.Closes) {
			return nil, fault.Invalid("expire_time", "The offer must end in the future, and before booking closes.").
				WithMetadata("closes_at", s.Slot.Closes.UTC().Format(time.RFC3339))
		}
		grant.Until = until
	}
	s.Entries, s.Live = []Entry{e}, nil
	f := NewFill(s, ByHand, nil)
	f.manual = &grant
	return f, nil
}

// ManualGrant is the grant to an entry that staff choose. It lasts as long as the rules say, or until the slot closes,
// if the rules find too little time.
func ManualGrant(c Candidate, slot Slot, rules *CompiledRules, now time.Time) Grant {
	s := rules.scene(slot, Round{}, now)
	until, late := s.offerEnd(&c)
	if late != "" {
		until = slot.Closes
	}
	return Grant{Entry: c.Entry, Member: c.Member, Seats: c.Party, Score: s.scoring(&c).Score, Until: until}
}

// ManualDecision is the decision to make that grant. Open seats that it does not take stay open.
func ManualDecision(c Candidate, grant Grant) Decision {
	seats := grant.Seats
	return Decision{
		Mode: OfferInTurn, Move: MakeOffer, Grants: []Grant{grant}, Seats: &seats, Given: grant.Seats,
		Verdicts: []Verdict{{Entry: c.Entry, Member: c.Member, Reason: WasOffered, Score: grant.Score, Party: c.Party}},
	}
}

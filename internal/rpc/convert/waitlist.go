package convert

import (
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Prefixes of enum values about waitlists.
const (
	EntryStatusPrefix = "WAITLIST_ENTRY_STATUS_"
	OfferStatusPrefix = "WAITLIST_OFFER_STATUS_"
	ModePrefix        = "WAITLIST_MODE_"
	MovePrefix        = "WAITLIST_MOVE_"
	triggerPrefix     = "WAITLIST_TRIGGER_"
	verdictPrefix     = "WAITLIST_VERDICT_REASON_"
)

func windowMessage(w waitlist.Window) *v1.WaitlistWindow {
	return &v1.WaitlistWindow{
		ServiceId: IDText(w.Service), LocationId: IDText(w.Location), ResourceId: IDText(w.Resource),
		FirstDate: DateMessage(w.From),
		LastDate:  DateMessage(w.Until), EarliestStart: TimeOfDayMessage(w.Earliest), LatestStart: TimeOfDayMessage(w.Latest),
	}
}

// EntryMessage converts a waitlist entry.
func EntryMessage(e waitlist.Entry) *v1.WaitlistEntry {
	m := &v1.WaitlistEntry{
		Id:               IDText(e.ID),
		MemberId:         IDText(e.Member),
		MemberName:       e.MemberName,
		CoachId:          IDText(e.Coach),
		PartySize:        int32(e.Party),
		Status:           Enum[v1.WaitlistEntryStatus](v1.WaitlistEntryStatus_value, EntryStatusPrefix, e.Status),
		PassedOverReason: verdictReason(e.PassedOver),
		Flagged:          e.Flagged,
		Score:            OptionalInt32(e.Score),
		Offers:           int32(e.Tries),
		BookingId:        IDText(e.Booking),
		CreateTime:       Timestamp(e.CreatedAt),
		CloseTime:        Timestamp(OrZero(e.ClosedAt)),
		Mode:             Enum[v1.WaitlistMode](v1.WaitlistMode_value, ModePrefix, e.Mode),
	}
	switch {
	case e.Window != nil:
		m.Target = &v1.WaitlistEntry_Window{Window: windowMessage(*e.Window)}
	case len(e.AnyOf) > 0:
		m.Target = &v1.WaitlistEntry_AnyOf{AnyOf: &v1.WaitlistSessions{
			Sessions: Messages(e.Sessions, SessionSummaryMessage),
		}}
	case len(e.Sessions) > 0:
		m.Target = &v1.WaitlistEntry_Session{Session: SessionSummaryMessage(e.Sessions[0])}
	}
	if e.Offer != nil {
		m.LiveOffer = OfferMessage(*e.Offer)
	}
	if e.Position > 0 {
		m.Position, m.CurrentScore = new(int32(e.Position)), new(int32(e.Scoring.Score))
	}
	if w := e.Scoring; w.Sum {
		m.ScoreParts = &v1.WaitlistScoreParts{
			Base: int32(w.Base), TierBonus: int32(w.TierBonus), EarlyBirdPoints: int32(w.EarlyBird),
		}
	}
	return m
}

func verdictReason(reason waitlist.VerdictReason) v1.WaitlistVerdictReason {
	return Enum[v1.WaitlistVerdictReason](v1.WaitlistVerdictReason_value, verdictPrefix, reason)
}

// OfferMessage converts an offer.
func OfferMessage(o waitlist.Offer) *v1.WaitlistOffer {
	return &v1.WaitlistOffer{
		Id:         IDText(o.ID),
		Session:    SessionSummaryMessage(o.Summary()),
		EntryId:    IDText(o.Entry),
		MemberId:   IDText(o.Member),
		MemberName: o.MemberName,
		Seats:      int32(o.Seats),
		Status:     Enum[v1.WaitlistOfferStatus](v1.WaitlistOfferStatus_value, OfferStatusPrefix, o.Status),
		WithdrawReason: Enum[v1.WaitlistOfferWithdrawReason](
			v1.WaitlistOfferWithdrawReason_value, "WAITLIST_OFFER_WITHDRAW_REASON_", o.Cause,
		),
		Reason:       o.Reason,
		FirstToClaim: o.Shared,
		Attempt:      int32(o.Try),
		ByHand:       o.ByHand,
		CreateTime:   Timestamp(o.CreatedAt),
		ExpireTime:   Timestamp(o.ExpiresAt),
		CloseTime:    Timestamp(OrZero(o.ClosedAt)),
		BookingId:    IDText(o.Booking),
	}
}

// DecisionMessage converts a decision. It uses the current names of members, which name returns.
func DecisionMessage(name func(tenant.MemberID) string) func(waitlists.DecisionRecord) *v1.WaitlistDecision {
	return func(d waitlists.DecisionRecord) *v1.WaitlistDecision {
		slot := d.Case.Slot
		m := &v1.WaitlistDecision{
			Id: IDText(d.ID), Session: SessionSummaryMessage(d.Session), StartTime: Timestamp(slot.StartsAt),
			DecideTime: Timestamp(d.Case.Now),
			Trigger:    Enum[v1.WaitlistTrigger](v1.WaitlistTrigger_value, triggerPrefix, d.Case.Trigger),
			Mode:       Enum[v1.WaitlistMode](v1.WaitlistMode_value, ModePrefix, d.Decision.Mode),
			Move:       Enum[v1.WaitlistMove](v1.WaitlistMove_value, MovePrefix, d.Decision.Move),
			LeftMove:   Enum[v1.WaitlistMove](v1.WaitlistMove_value, MovePrefix, d.Decision.LeftMove),
			Seats:      OptionalInt32(d.Decision.Seats), Given: int32(d.Decision.Given), Tried: int32(d.Decision.Tried),
			RulesVersion: VersionMessage(d.Rules), RoundId: IDText(d.Round), StaffNote: d.Note,
			Sentences:  waitlist.Explain(d.Decision, d.Case.Trigger, slot, d.Case.Now, name),
			LineLength: int32(len(d.Decision.Verdicts)),
		}
		for i, v := range d.Decision.Verdicts {
			m.Verdicts = append(m.Verdicts, VerdictMessage(d.Decision, v, i, slot, name))
		}
		return m
	}
}

// VersionMessage converts the version of rules. That of the defaults, which is 0, becomes nil.
func VersionMessage(version int) *int32 {
	if version == 0 {
		return nil
	}
	return new(int32(version))
}

// VerdictMessage converts the verdict on the entry at an index of a decision.
func VerdictMessage(
	d waitlist.Decision, v waitlist.Verdict, at int, slot waitlist.Slot, name func(tenant.MemberID) string,
) *v1.WaitlistVerdict {
	return &v1.WaitlistVerdict{
		EntryId: IDText(v.Entry), MemberId: IDText(v.Member), MemberName: name(v.Member),
		Reason: verdictReason(v.Reason), Score: int32(v.Score), Rank: int32(at + 1),
		PartySize: int32(v.Party), Sentence: d.Sentence(v, slot), ChosenBefore: int32(d.ChosenBefore(at)),
		OfferExpireTime: Timestamp(d.OfferedUntil(v.Entry)),
	}
}

// SpanOrLast30Days converts a time range. Nil becomes the last 30 days.
func SpanOrLast30Days(clock func() time.Time, r *v1.TimeRange) civil.Span {
	if r != nil {
		return civil.Span{Start: Time(r.Start), End: Time(r.End)}
	}
	now := clock()
	return civil.Span{Start: now.AddDate(0, 0, -30), End: now}
}

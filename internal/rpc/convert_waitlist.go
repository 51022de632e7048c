package rpc

import (
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	entryStatusPrefix = "WAITLIST_ENTRY_STATUS_"
	offerStatusPrefix = "OFFER_STATUS_"
	modePrefix        = "WAITLIST_MODE_"
	movePrefix        = "WAITLIST_MOVE_"
	triggerPrefix     = "WAITLIST_TRIGGER_"
)

// windowValue reads a window. Days and times that no calendar and no clock has are refused.
func windowValue(m *v1.WaitlistWindow) (*waitlist.Window, error) {
	w := &waitlist.Window{
		Service: id[tenant.ServiceID](m.ServiceId), Location: id[tenant.LocationID](m.LocationId), Resource: id[tenant.ResourceID](m.ResourceId),
		From: civilDate(m.FirstDate), Until: civilDate(m.LastDate), Earliest: civilTime(m.EarliestStart), Latest: civilTime(m.LatestStart),
	}
	if m.LastDate == nil {
		w.Until = w.From
	}
	if m.LatestStart == nil {
		w.Latest = civil.TimeOfDay{Hour: 23, Minute: 59, Second: 59}
	}
	switch {
	case !w.From.Valid():
		return nil, fault.Invalid("window.first_date", "There is no such day.")
	case !w.Until.Valid():
		return nil, fault.Invalid("window.last_date", "There is no such day.")
	case !w.Earliest.Valid():
		return nil, fault.Invalid("window.earliest_start", "There is no such time of day.")
	case !w.Latest.Valid():
		return nil, fault.Invalid("window.latest_start", "There is no such time of day.")
	}
	return w, nil
}

func windowMessage(w waitlist.Window) *v1.WaitlistWindow {
	return &v1.WaitlistWindow{
		ServiceId: idText(w.Service), LocationId: idText(w.Location), ResourceId: idText(w.Resource), FirstDate: dateMessage(w.From),
		LastDate: dateMessage(w.Until), EarliestStart: timeOfDayMessage(w.Earliest), LatestStart: timeOfDayMessage(w.Latest),
	}
}

func entryMessage(e waitlist.Entry) *v1.WaitlistEntry {
	m := &v1.WaitlistEntry{
		Id:               idText(e.ID),
		SessionId:        idText(e.Session),
		MemberId:         idText(e.Member),
		MemberName:       e.MemberName,
		PartySize:        int32(e.Party),
		Status:           enum[v1.WaitlistEntryStatus](v1.WaitlistEntryStatus_value, entryStatusPrefix, e.Status),
		Position:         int32(e.Position),
		CreateTime:       timestamp(e.CreatedAt),
		SessionStartTime: timestamp(e.SessionStarts),
		SessionTitle:     e.SessionTitle,
		TimeZone:         e.TimeZone,
		BookingId:        idText(e.Booking),
		PassedOverReason: e.PassedOver,
		CoachId:          idText(e.Coach),
		Flagged:          e.Flagged,
		Score:            optionalInt(e.Score),
		Offers:           int32(e.Tries),
		CloseTime:        timestamp(orZero(e.ClosedAt)),
	}
	for _, session := range e.AnyOf {
		m.SessionIds = append(m.SessionIds, idText(session))
	}
	if e.Window != nil {
		m.Window = windowMessage(*e.Window)
	}
	if e.Offer != nil {
		m.LiveOffer = offerMessage(*e.Offer)
	}
	if e.Position > 0 {
		m.CurrentScore = new(int32(e.Worth.Score))
	}
	if w := e.Worth; w.Sum {
		m.ScoreParts = &v1.WaitlistScoreParts{Base: int32(w.Base), TierBonus: int32(w.TierBonus), EarlyBirdPoints: int32(w.EarlyBird)}
	}
	return m
}

func offerMessage(o waitlist.Offer) *v1.Offer {
	return &v1.Offer{
		Id: idText(o.ID), SessionId: idText(o.Session), EntryId: idText(o.Entry), MemberId: idText(o.Member), MemberName: o.MemberName,
		Seats: int32(o.Seats), Status: enum[v1.OfferStatus](v1.OfferStatus_value, offerStatusPrefix, o.Status), FirstToClaim: o.Shared,
		Try: int32(o.Try), ByHand: o.ByHand, CreateTime: timestamp(o.CreatedAt), ExpireTime: timestamp(o.ExpiresAt), CloseTime: timestamp(orZero(o.ClosedAt)),
		BookingId: idText(o.Booking), Reason: o.Reason, SessionTitle: o.SessionTitle, SessionStartTime: timestamp(o.SessionStarts), TimeZone: o.TimeZone,
	}
}

// decisionMessage tells a decision with the names that people have now.
func decisionMessage(name func(tenant.MemberID) string) func(waitlists.Decided) *v1.WaitlistDecision {
	return func(d waitlists.Decided) *v1.WaitlistDecision {
		slot := d.Case.Slot
		m := &v1.WaitlistDecision{
			Id: idText(d.ID), SessionId: idText(slot.Session), SessionTitle: d.SessionTitle, SessionStartTime: timestamp(slot.StartsAt), TimeZone: d.TimeZone,
			DecideTime: timestamp(d.Case.Now), Trigger: enum[v1.WaitlistTrigger](v1.WaitlistTrigger_value, triggerPrefix, d.Case.Trigger),
			Mode:     enum[v1.WaitlistMode](v1.WaitlistMode_value, modePrefix, d.Decision.Mode),
			Move:     enum[v1.WaitlistMove](v1.WaitlistMove_value, movePrefix, d.Decision.Move),
			LeftMove: enum[v1.WaitlistMove](v1.WaitlistMove_value, movePrefix, d.Decision.LeftMove),
			Seats:    optionalInt(d.Decision.Seats), Given: int32(d.Decision.Given), Tried: int32(d.Decision.Tried), RulesVersion: int32(d.Rules),
			RoundId: idText(d.Round), StaffNote: d.Note,
			Sentences: waitlist.Explain(d.Decision, d.Case.Trigger, slot, d.Case.Now, name), LineLength: int32(len(d.Decision.Verdicts)),
		}
		for i, v := range d.Decision.Verdicts {
			m.Verdicts = append(m.Verdicts, verdictMessage(d.Decision, v, i, slot, name))
		}
		return m
	}
}

func verdictMessage(d waitlist.Decision, v waitlist.Verdict, at int, slot waitlist.Slot, name func(tenant.MemberID) string) *v1.WaitlistVerdict {
	return &v1.WaitlistVerdict{
		EntryId: idText(v.Entry), MemberId: idText(v.Member), MemberName: name(v.Member), Reason: v.Reason, Score: int32(v.Score), Rank: int32(at + 1),
		PartySize: int32(v.Party), Sentence: d.Sentence(v, slot), ChosenBefore: int32(d.ChosenBefore(at)), ExpireTime: timestamp(d.OfferedUntil(v.Entry)),
	}
}

// editRules applies what an update mask names; what is not set is inherited again.
func editRules(m *v1.WaitlistRules, paths []string) func(*waitlist.Settings) {
	return func(s *waitlist.Settings) { readSettings(waitlist.Fields.Only(paths), m, s) }
}

func rulesMessage(s waitlist.Settings) *v1.WaitlistRules {
	return writeSettings(waitlist.Fields, &s, &v1.WaitlistRules{})
}

func effectiveRulesMessage(e waitlist.Effective) *v1.EffectiveWaitlistRules {
	m := &v1.EffectiveWaitlistRules{
		Rules: rulesMessage(e.Rules.Settings()), Version: int32(e.Version),
		Layers: []*v1.WaitlistRulesLayer{{Level: policyLevel(catalog.Default), Rules: rulesMessage(waitlist.Defaults().Settings())}},
	}
	target := func(at catalog.Level) string {
		for _, l := range e.Layers {
			if l.Level == at && at != catalog.TenantLevel {
				return l.Scope.String()
			}
		}
		return ""
	}
	m.Origins = originMessages(waitlist.Fields, m.Rules, e.Origins, target)
	for _, l := range e.Layers {
		m.Layers = append(m.Layers, &v1.WaitlistRulesLayer{
			Level: policyLevel(l.Level), TargetId: target(l.Level), Rules: rulesMessage(l.Settings), Etag: etag(l.Version), Version: int32(l.Version),
		})
	}
	return m
}

func rulesVersionMessage(v waitlists.RulesVersion) *v1.WaitlistRulesVersion {
	m := &v1.WaitlistRulesVersion{
		Version: int32(v.Version), Level: policyLevel(v.Level), Rules: rulesMessage(v.Settings), Reset_: v.Reset, Author: v.Author, AuthorName: v.AuthorName,
		Reason: v.Reason, CreateTime: timestamp(v.At),
	}
	if v.Level != catalog.TenantLevel {
		m.TargetId = v.Scope.String()
	}
	return m
}

func figuresMessage(p waitlists.WaitlistPart) *v1.WaitlistFigures {
	m := &v1.WaitlistFigures{
		Entries: int64(p.Entries), Active: int64(p.Active), Booked: int64(p.Booked), Promoted: int64(p.Promoted), OffersSent: int64(p.Offers),
		Accepted: int64(p.Accepted), Declined: int64(p.Declined), Expired: int64(p.RanOut), Withdrawn: int64(p.Withdrawn),
		AcceptanceRate: p.AcceptanceRate(), ConversionRate: p.ConversionRate(), AverageCascadeDepth: p.CascadeDepth(),
	}
	if p.Accepted+p.Declined > 0 {
		m.AverageResponseTime = durationpb.New(p.AverageResponse())
	}
	for depth := range p.Depths {
		m.MaxCascadeDepth = max(m.MaxCascadeDepth, int32(depth))
	}
	return m
}

func figuresRow(g waitlists.WaitlistGroup) *v1.WaitlistFiguresRow {
	return &v1.WaitlistFiguresRow{Key: g.Key, Name: g.Name, Figures: figuresMessage(g.WaitlistPart)}
}

func depths(counts map[int]int) []int64 {
	var all []int64
	for depth, n := range counts {
		for len(all) < depth {
			all = append(all, 0)
		}
		all[depth-1] = int64(n)
	}
	return all
}

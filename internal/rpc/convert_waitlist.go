package rpc

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
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
	orderPrefix       = "WAITLIST_ORDER_"
	afterPrefix       = "WAITLIST_AFTER_"
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
func decisionMessage(name func(tenant.MemberID) string) func(app.Decided) *v1.WaitlistDecision {
	return func(d app.Decided) *v1.WaitlistDecision {
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

// ruleFields are the fields of WaitlistRules by their names, with those of waitlist.Rules and how they are read and written.
var ruleFields = []struct {
	name, field string
	write       func(waitlist.Settings, *v1.WaitlistRules)
	read        func(*v1.WaitlistRules, *waitlist.Settings)
}{
	{"enabled", "Enabled", func(s waitlist.Settings, m *v1.WaitlistRules) { m.Enabled = s.Enabled },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.Enabled = m.Enabled }},
	{"mode", "Mode", func(s waitlist.Settings, m *v1.WaitlistRules) {
		m.Mode = optionalEnum[v1.WaitlistMode](v1.WaitlistMode_value, modePrefix, s.Mode)
	}, func(m *v1.WaitlistRules, s *waitlist.Settings) {
		s.Mode = optionalWord[waitlist.Mode](modePrefix, m.Mode)
	}},
	{"max_queue_size", "MaxQueueSize", func(s waitlist.Settings, m *v1.WaitlistRules) { m.MaxQueueSize = optionalInt(s.MaxQueueSize) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.MaxQueueSize = optionalNumber(m.MaxQueueSize) }},
	{"offer_window", "OfferWindow", func(s waitlist.Settings, m *v1.WaitlistRules) { m.OfferWindow = optionalDuration(s.OfferWindow) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.OfferWindow = optionalSpan(m.OfferWindow) }},
	{"min_offer_window", "MinOfferWindow", func(s waitlist.Settings, m *v1.WaitlistRules) { m.MinOfferWindow = optionalDuration(s.MinOfferWindow) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.MinOfferWindow = optionalSpan(m.MinOfferWindow) }},
	{"time_flexibility", "TimeFlexibility", func(s waitlist.Settings, m *v1.WaitlistRules) {
		m.TimeFlexibility = optionalDuration(s.TimeFlexibility)
	},
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.TimeFlexibility = optionalSpan(m.TimeFlexibility) }},
	{"max_offers_per_entry", "MaxOffersPerEntry", func(s waitlist.Settings, m *v1.WaitlistRules) { m.MaxOffersPerEntry = optionalInt(s.MaxOffersPerEntry) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) {
			s.MaxOffersPerEntry = optionalNumber(m.MaxOffersPerEntry)
		}},
	{"max_tries_per_slot", "MaxTriesPerSlot", func(s waitlist.Settings, m *v1.WaitlistRules) { m.MaxTriesPerSlot = optionalInt(s.MaxTriesPerSlot) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.MaxTriesPerSlot = optionalNumber(m.MaxTriesPerSlot) }},
	{"after_expiry", "AfterExpiry", func(s waitlist.Settings, m *v1.WaitlistRules) {
		m.AfterExpiry = optionalEnum[v1.WaitlistAfter](v1.WaitlistAfter_value, afterPrefix, s.AfterExpiry)
	}, func(m *v1.WaitlistRules, s *waitlist.Settings) {
		s.AfterExpiry = optionalWord[waitlist.After](afterPrefix, m.AfterExpiry)
	}},
	{"after_decline", "AfterDecline", func(s waitlist.Settings, m *v1.WaitlistRules) {
		m.AfterDecline = optionalEnum[v1.WaitlistAfter](v1.WaitlistAfter_value, afterPrefix, s.AfterDecline)
	}, func(m *v1.WaitlistRules, s *waitlist.Settings) {
		s.AfterDecline = optionalWord[waitlist.After](afterPrefix, m.AfterDecline)
	}},
	{"auto_cascade", "AutoCascade", func(s waitlist.Settings, m *v1.WaitlistRules) { m.AutoCascade = s.AutoCascade },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.AutoCascade = m.AutoCascade }},
	{"expire_stale", "ExpireStale", func(s waitlist.Settings, m *v1.WaitlistRules) { m.ExpireStale = s.ExpireStale },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.ExpireStale = m.ExpireStale }},
	{"stale_after", "StaleAfter", func(s waitlist.Settings, m *v1.WaitlistRules) { m.StaleAfter = optionalDuration(s.StaleAfter) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.StaleAfter = optionalSpan(m.StaleAfter) }},
	{"allow_down_fitting", "AllowDownFitting", func(s waitlist.Settings, m *v1.WaitlistRules) { m.AllowDownFitting = s.AllowDownFitting },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.AllowDownFitting = m.AllowDownFitting }},
	{"order", "Order", func(s waitlist.Settings, m *v1.WaitlistRules) {
		m.Order = optionalEnum[v1.WaitlistOrder](v1.WaitlistOrder_value, orderPrefix, s.Order)
	}, func(m *v1.WaitlistRules, s *waitlist.Settings) {
		s.Order = optionalWord[waitlist.Order](orderPrefix, m.Order)
	}},
	{"base_score", "BaseScore", func(s waitlist.Settings, m *v1.WaitlistRules) { m.BaseScore = optionalInt(s.BaseScore) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.BaseScore = optionalNumber(m.BaseScore) }},
	{"tier_bonuses", "TierBonus", writeBonuses, readBonuses},
	{"early_bird_points_per_day", "EarlyBirdPerDay", func(s waitlist.Settings, m *v1.WaitlistRules) {
		m.EarlyBirdPointsPerDay = optionalInt(s.EarlyBirdPerDay)
	},
		func(m *v1.WaitlistRules, s *waitlist.Settings) {
			s.EarlyBirdPerDay = optionalNumber(m.EarlyBirdPointsPerDay)
		}},
	{"early_bird_max_points", "EarlyBirdMax", func(s waitlist.Settings, m *v1.WaitlistRules) { m.EarlyBirdMaxPoints = optionalInt(s.EarlyBirdMax) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.EarlyBirdMax = optionalNumber(m.EarlyBirdMaxPoints) }},
	{"eligibility_expression", "EligibilityExpression", func(s waitlist.Settings, m *v1.WaitlistRules) { m.EligibilityExpression = s.EligibilityExpression },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.EligibilityExpression = m.EligibilityExpression }},
	{"priority_expression", "PriorityExpression", func(s waitlist.Settings, m *v1.WaitlistRules) { m.PriorityExpression = s.PriorityExpression },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.PriorityExpression = m.PriorityExpression }},
	{"quiet_hours", "QuietHours", writeQuiet, readQuiet},
	{"offers_in_quiet_hours", "OffersInQuietHours", func(s waitlist.Settings, m *v1.WaitlistRules) { m.OffersInQuietHours = s.OffersInQuietHours },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.OffersInQuietHours = m.OffersInQuietHours }},
	{"auto_promote_cutoff", "AutoPromoteCutoff", func(s waitlist.Settings, m *v1.WaitlistRules) {
		m.AutoPromoteCutoff = optionalDuration(s.AutoPromoteCutoff)
	},
		func(m *v1.WaitlistRules, s *waitlist.Settings) {
			s.AutoPromoteCutoff = optionalSpan(m.AutoPromoteCutoff)
		}},
	{"promotion_grace", "PromotionGrace", func(s waitlist.Settings, m *v1.WaitlistRules) { m.PromotionGrace = optionalDuration(s.PromotionGrace) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.PromotionGrace = optionalSpan(m.PromotionGrace) }},
	{"fill_after_start", "FillAfterStart", func(s waitlist.Settings, m *v1.WaitlistRules) { m.FillAfterStart = optionalDuration(s.FillAfterStart) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.FillAfterStart = optionalSpan(m.FillAfterStart) }},
	{"sms_min_score", "SMSMinScore", func(s waitlist.Settings, m *v1.WaitlistRules) { m.SmsMinScore = optionalInt(s.SMSMinScore) },
		func(m *v1.WaitlistRules, s *waitlist.Settings) { s.SMSMinScore = optionalNumber(m.SmsMinScore) }},
}

func writeBonuses(s waitlist.Settings, m *v1.WaitlistRules) {
	if s.TierBonus == nil {
		return
	}
	m.TierBonuses = &v1.TierBonuses{}
	for _, tier := range slices.Sorted(maps.Keys(*s.TierBonus)) {
		m.TierBonuses.Bonuses = append(m.TierBonuses.Bonuses, &v1.TierBonus{Tier: tier, Points: int32((*s.TierBonus)[tier])})
	}
}

func readBonuses(m *v1.WaitlistRules, s *waitlist.Settings) {
	s.TierBonus = nil
	if m.TierBonuses == nil {
		return
	}
	bonus := make(map[string]int, len(m.TierBonuses.Bonuses))
	for _, b := range m.TierBonuses.Bonuses {
		bonus[b.Tier] = int(b.Points)
	}
	s.TierBonus = &bonus
}

func writeQuiet(s waitlist.Settings, m *v1.WaitlistRules) {
	if s.QuietHours != nil {
		m.QuietHours = &v1.WaitlistQuietHours{Start: timeOfDayMessage(s.QuietHours.From), End: timeOfDayMessage(s.QuietHours.Until)}
	}
}

func readQuiet(m *v1.WaitlistRules, s *waitlist.Settings) {
	s.QuietHours = nil
	if m.QuietHours != nil {
		s.QuietHours = &waitlist.QuietHours{From: civilTime(m.QuietHours.Start), Until: civilTime(m.QuietHours.End)}
	}
}

func optionalNumber(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

func optionalEnum[E ~int32, S ~string](values map[string]int32, prefix string, w *S) *E {
	if w == nil {
		return nil
	}
	return new(enum[E](values, prefix, *w))
}

// optionalWord gives nil for UNSPECIFIED, too.
func optionalWord[S ~string, E interface {
	~int32
	String() string
}](prefix string, value *E) *S {
	if value == nil || *value == 0 {
		return nil
	}
	return new(word[S](prefix, *value))
}

// editRules applies what an update mask names; what is not set is inherited again.
func editRules(m *v1.WaitlistRules, paths []string) func(*waitlist.Settings) {
	if m == nil {
		m = &v1.WaitlistRules{} // then nothing is set
	}
	return func(s *waitlist.Settings) {
		for _, path := range paths {
			for _, f := range ruleFields {
				if f.name == path {
					f.read(m, s)
				}
			}
		}
	}
}

func rulesMessage(s waitlist.Settings) *v1.WaitlistRules {
	m := &v1.WaitlistRules{}
	for _, f := range ruleFields {
		f.write(s, m)
	}
	return m
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
	for _, f := range ruleFields {
		level := e.Origins[f.field]
		m.Origins = append(m.Origins, &v1.PolicyOrigin{Field: f.name, Level: policyLevel(level), TargetId: target(level)})
	}
	for _, l := range e.Layers {
		m.Layers = append(m.Layers, &v1.WaitlistRulesLayer{
			Level: policyLevel(l.Level), TargetId: target(l.Level), Rules: rulesMessage(l.Settings), Etag: etag(l.Version), Version: int32(l.Version),
		})
	}
	return m
}

func rulesVersionMessage(v app.RulesVersion) *v1.WaitlistRulesVersion {
	m := &v1.WaitlistRulesVersion{
		Version: int32(v.Version), Level: policyLevel(v.Level), Rules: rulesMessage(v.Settings), Reset_: v.Reset, Author: v.Author, AuthorName: v.AuthorName,
		Reason: v.Reason, CreateTime: timestamp(v.At),
	}
	if v.Level != catalog.TenantLevel {
		m.TargetId = v.Scope.String()
	}
	return m
}

func figuresMessage(p app.WaitlistPart) *v1.WaitlistFigures {
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

func figuresRow(g app.WaitlistGroup) *v1.WaitlistFiguresRow {
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

package eventapi

import (
	"strings"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/event"
)

// setDetails sets what the record's view shows of its data and facts. Events of a type that is not known have none.
func setDetails(m *v1.Event, e *events.EventRecord) {
	switch d := e.Data.(type) {
	case event.SessionSeatsChanged:
		m.Details = &v1.Event_Seats{Seats: &v1.SeatsEvent{SeatsOpen: int32(d.SeatsOpen)}}
	case event.SessionCreated, event.SessionUpdated, event.SessionPublished, event.SessionUnpublished,
		event.SessionBlocked, event.SessionUnblocked, event.SessionCancelled, event.SessionDeleted:
		m.Details = &v1.Event_Session{Session: sessionDetails(e)}
	case event.BookingHeld, event.BookingReleased, event.BookingExpired, event.BookingUpdated, event.BookingConfirmed,
		event.BookingRescheduled, event.BookingCancelled, event.BookingAttended, event.BookingCheckInUndone,
		event.BookingNoShow, event.BookingNoShowUndone, event.BookingReminderDue, event.WaitlistPromoted:
		m.Details = &v1.Event_Booking{Booking: bookingDetails(e)}
	case event.WaitlistJoined, event.WaitlistLeft, event.WaitlistChanged:
		m.Details = &v1.Event_WaitlistEntry{WaitlistEntry: entryDetails(e)}
	case event.OfferCreated, event.OfferExtended, event.OfferAccepted, event.OfferDeclined, event.OfferExpired,
		event.OfferWithdrawn:
		m.Details = &v1.Event_WaitlistOffer{WaitlistOffer: offerDetails(e)}
	case event.CreditsChanged:
		m.Details = &v1.Event_Credits{Credits: &v1.CreditsEvent{Amount: int32(d.Amount), Balance: int32(d.Balance)}}
	case event.SubscriptionChanged:
		m.Details = &v1.Event_Subscription{Subscription: subscriptionDetails(e.Facts, d)}
	case event.MemberChanged:
		m.Details = &v1.Event_Member{Member: &v1.MemberEvent{ChangedFields: d.Changed}}
	case event.AccessChanged:
		m.Details = &v1.Event_Access{Access: accessDetails(d)}
	default:
		if e.View == event.Whole {
			setStaffDetails(m, e.Data)
		}
	}
}

// setStaffDetails sets the details of the types of which nothing is about the person who is affected.
func setStaffDetails(m *v1.Event, data event.Data) {
	switch d := data.(type) {
	case event.WaitlistStaffNote:
		m.Details = &v1.Event_WaitlistNote{WaitlistNote: &v1.WaitlistNoteEvent{
			DecisionId: convert.IDText(d.Decision),
			Move:       convert.Enum[v1.WaitlistMove](v1.WaitlistMove_value, convert.MovePrefix, d.Move),
			Note:       d.Note,
		}}
	case event.DisplaySecondScreen:
		m.Details = &v1.Event_CheckInDisplay{CheckInDisplay: &v1.CheckInDisplayEvent{
			DisplayLinkId: convert.IDText(d.Link),
		}}
	case event.CatalogChanged:
		m.Details = &v1.Event_Catalog{Catalog: &v1.CatalogEvent{
			Kind: convert.Enum[v1.CatalogKind](v1.CatalogKind_value, "CATALOG_KIND_", strings.ToUpper(d.Kind)),
			Id:   d.ID,
		}}
	case event.RulesChanged:
		m.Details = &v1.Event_WaitlistRules{WaitlistRules: &v1.WaitlistRulesEvent{
			Version:  int32(d.Version),
			Level:    convert.Enum[v1.SettingLevel](v1.SettingLevel_value, "SETTING_LEVEL_", d.Level),
			TargetId: convert.UUIDText(d.Target),
		}}
	}
}

// ifWhole returns a flag that only those see who see the whole event.
func ifWhole(e *events.EventRecord, flag bool) *bool {
	if e.View != event.Whole {
		return nil
	}
	return &flag
}

func sessionDetails(e *events.EventRecord) *v1.SessionEvent {
	m := &v1.SessionEvent{Status: convert.Enum[v1.SessionStatus](
		v1.SessionStatus_value, sessionStatusPrefix, e.Facts.Status,
	)}
	switch d := e.Data.(type) {
	case event.SessionCreated:
		m.SeriesId, m.BatchId, m.After = convert.IDText(d.Series), convert.IDText(d.Batch), sessionValues(d.After)
	case event.SessionUpdated:
		m.ChangedFields, m.Before, m.After = changedFields(d.After), sessionValues(d.Before), sessionValues(d.After)
	case event.SessionPublished:
		m.BatchId = convert.IDText(d.Batch)
	case event.SessionBlocked:
		m.Reason = d.Reason
	case event.SessionCancelled:
		m.Reason, m.BatchId, m.Notify = d.Reason, convert.IDText(d.Batch), ifWhole(e, d.Notify)
	case event.SessionDeleted:
		m.Reason, m.BatchId, m.Notify = d.Reason, convert.IDText(d.Batch), ifWhole(e, d.Notify)
	}
	return m
}

const sessionStatusPrefix = "SESSION_STATUS_"

// changedFields returns the names of the fields that an edit changed, in the order of SessionValues.
func changedFields(f event.SessionFields) (names []string) {
	for _, field := range []struct {
		name string
		same bool
	}{
		{"service_id", f.Service.IsZero()},
		{"location_id", f.Location.IsZero()},
		{"resource_id", f.Resource.IsZero()},
		{"coach_id", f.Coach.IsZero()},
		{"title", f.Title.IsZero()},
		{"description", f.Description.IsZero()},
		{"capacity", f.Capacity.IsZero()},
		{"waitlist_capacity", f.WaitlistCapacity.IsZero()},
		{"start_time", f.Start.IsZero()},
		{"end_time", f.End.IsZero()},
		{"status", f.State.IsZero()},
		{"blocked", f.Blocked.IsZero()},
		{"status_reason", f.StateReason.IsZero()},
		{"workout_ids", f.Workouts.IsZero()},
	} {
		if !field.same {
			names = append(names, field.name)
		}
	}
	return names
}

// sessionValues returns nil if there are no values.
func sessionValues(f event.SessionFields) *v1.SessionValues {
	if len(changedFields(f)) == 0 {
		return nil
	}
	m := &v1.SessionValues{
		ServiceId:        convert.IDText(orZero(f.Service)),
		LocationId:       convert.IDText(orZero(f.Location)),
		ResourceId:       convert.IDText(orZero(f.Resource)),
		CoachId:          convert.IDText(orZero(f.Coach)),
		Title:            orZero(f.Title),
		Description:      orZero(f.Description),
		Capacity:         convert.OptionalInt32(f.Capacity.Value),
		WaitlistCapacity: convert.OptionalInt32(f.WaitlistCapacity.Value),
		StartTime:        convert.Timestamp(orZero(f.Start)),
		EndTime:          convert.Timestamp(orZero(f.End)),
		Status: convert.Enum[v1.SessionStatus](
			v1.SessionStatus_value, sessionStatusPrefix, orZero(f.State),
		),
		Blocked:      f.Blocked.Value,
		StatusReason: orZero(f.StateReason),
	}
	for _, id := range orZero(f.Workouts) {
		m.WorkoutIds = append(m.WorkoutIds, convert.IDText(id))
	}
	return m
}

func orZero[T any](f event.Field[T]) (value T) {
	if f.Value != nil {
		value = *f.Value
	}
	return value
}

func bookingDetails(e *events.EventRecord) *v1.BookingEvent {
	m := &v1.BookingEvent{
		Status: convert.Enum[v1.BookingStatus](
			v1.BookingStatus_value, convert.BookingStatusPrefix, e.Facts.Status,
		),
		PartySize:   int32(e.Facts.Party),
		ExternalRef: e.Facts.ExternalRef,
		PaymentStatus: convert.Enum[v1.PaymentStatus](
			v1.PaymentStatus_value, convert.PaymentStatusPrefix, e.Facts.Payment.Status,
		),
		Credits: int32(e.Facts.Credits),
	}
	switch d := e.Data.(type) {
	case event.BookingRescheduled:
		m.FromSessionId, m.FromStartTime = convert.IDText(d.FromSession), convert.Timestamp(d.FromStart)
		m.Notify = ifWhole(e, d.Notify)
	case event.BookingCancelled:
		m.Late, m.CreditRefunded, m.Reason = &d.Late, &d.Refunded, d.Reason
		m.SessionCancelled, m.Notify = ifWhole(e, d.SessionGone), ifWhole(e, d.Notify)
	case event.BookingReminderDue:
		if e.View == event.Whole {
			m.RemindBefore = convert.DurationMessage(time.Duration(d.LeadSeconds) * time.Second)
		}
	}
	return m
}

func entryDetails(e *events.EventRecord) *v1.WaitlistEntryEvent {
	m := &v1.WaitlistEntryEvent{
		Status: convert.Enum[v1.WaitlistEntryStatus](
			v1.WaitlistEntryStatus_value, convert.EntryStatusPrefix, e.Facts.Status,
		),
		PartySize:   int32(e.Facts.Party),
		ExternalRef: e.Facts.ExternalRef,
	}
	switch d := e.Data.(type) {
	case event.WaitlistJoined:
		m.Position = convert.OptionalInt32(&d.Position)
	case event.WaitlistLeft:
		m.Reason, m.Notify = d.Reason, ifWhole(e, d.Notify)
	case event.WaitlistChanged:
		m.Position, m.Flagged = convert.OptionalInt32(&d.Position), ifWhole(e, d.Flagged)
		if e.View == event.Whole {
			m.PreviousPosition, m.Score = convert.OptionalInt32(&d.PositionBefore), convert.OptionalInt32(d.Score)
		}
	}
	return m
}

func offerDetails(e *events.EventRecord) *v1.WaitlistOfferEvent {
	m := &v1.WaitlistOfferEvent{
		Status: convert.Enum[v1.WaitlistOfferStatus](
			v1.WaitlistOfferStatus_value, convert.OfferStatusPrefix, e.Facts.Status,
		),
		PartySize: int32(e.Facts.Party),
	}
	switch d := e.Data.(type) {
	case event.OfferCreated:
		m.ExpireTime, m.FirstToClaim = convert.Timestamp(d.Expires), &d.FirstToClaim
		if e.View == event.Whole {
			m.Attempt = convert.OptionalInt32(&d.Try)
		}
	case event.OfferExtended:
		m.ExpireTime = convert.Timestamp(d.Expires)
	case event.OfferAccepted:
		m.Reason = d.Reason
	case event.OfferDeclined:
		m.Reason = d.Reason
	case event.OfferExpired:
		m.Reason = d.Reason
	case event.OfferWithdrawn:
		m.Reason = d.Reason
		m.WithdrawReason = convert.Enum[v1.WaitlistOfferWithdrawReason](
			v1.WaitlistOfferWithdrawReason_value, "WAITLIST_OFFER_WITHDRAW_REASON_", d.Cause,
		)
	}
	return m
}

func subscriptionDetails(facts event.Facts, d event.SubscriptionChanged) *v1.SubscriptionEvent {
	const prefix = "SUBSCRIPTION_STATUS_"
	return &v1.SubscriptionEvent{
		PlanId:  convert.IDText(d.Plan),
		Status:  convert.Enum[v1.SubscriptionStatus](v1.SubscriptionStatus_value, prefix, facts.Status),
		EndTime: convert.Timestamp(d.End),
		PreviousStatus: convert.Enum[v1.SubscriptionStatus](
			v1.SubscriptionStatus_value, prefix, d.StatusBefore,
		),
		PreviousEndTime: convert.Timestamp(d.EndBefore),
	}
}

func accessDetails(d event.AccessChanged) *v1.AccessEvent {
	return &v1.AccessEvent{
		RolesChanged:     d.Roles != nil,
		Roles:            d.Roles,
		Change:           convert.Enum[v1.AccessChange](v1.AccessChange_value, "ACCESS_CHANGE_", d.Change),
		Role:             d.Role,
		ServiceAccountId: convert.IDText(d.ServiceAccount),
		FromMemberId:     convert.IDText(d.FromMember),
	}
}

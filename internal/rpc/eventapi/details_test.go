package eventapi

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/encoding/protojson"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const someID = "0190a000-0000-7000-8000-00000000000a"

func id[I ~struct{ tenant.UUID }]() I { return I{tenant.MustParse[tenant.EventID](someID).UUID} }

// The details have what the view shows, in the case of the event's family.
func TestDetails_AreWhatTheViewShows(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, time.March, 16, 12, 0, 0, 0, time.UTC)
	left := event.WaitlistLeft{Reason: "late", Notify: true}
	waited := event.Facts{Status: "EXPIRED", Party: 2, ExternalRef: "x-1"}
	booked := event.Facts{
		Status: "CONFIRMED", Party: 2, ExternalRef: "x-1",
		Payment: event.Payment{Status: "UNPAID", Credits: -2, Subscription: id[tenant.SubscriptionID]()},
	}
	ended := event.Facts{Status: "CANCELLED", Party: 1}
	const bookedText = `"status":"BOOKING_STATUS_CONFIRMED","partySize":2,"externalRef":"x-1",` +
		`"paymentStatus":"PAYMENT_STATUS_UNPAID","credits":-2`
	for _, tt := range []struct {
		data  event.Data
		facts event.Facts
		view  event.View
		want  string
	}{
		{event.SessionSeatsChanged{SeatsOpen: 3}, event.Facts{}, event.Whole, `{"seats":{"seatsOpen":3}}`},
		{event.SessionSeatsChanged{SeatsOpen: 0}, event.Facts{}, event.Whole, `{"seats":{}}`},
		{
			event.SessionCreated{Series: id[tenant.SeriesID](), Batch: id[tenant.BatchID](), After: event.SessionFields{
				Start: event.Changed(&noon), Capacity: event.Changed(new(8)),
			}}, event.Facts{Status: "DRAFT"}, event.Whole,
			`{"session":{"status":"SESSION_STATUS_DRAFT","seriesId":"` + someID + `","batchId":"` + someID +
				`","after":{"startTime":"2026-03-16T12:00:00Z","capacity":8}}}`,
		},
		{
			event.SessionUpdated{
				Before: event.SessionFields{Capacity: event.Changed(new(0)), Blocked: event.Changed(new(false))},
				After: event.SessionFields{
					Capacity: event.Changed[int](nil), Blocked: event.Changed(new(true)), State: event.Changed(new("PUBLISHED")),
				},
			}, event.Facts{Status: "PUBLISHED"}, event.Whole,
			`{"session":{"status":"SESSION_STATUS_PUBLISHED","changedFields":["capacity","status","blocked"],` +
				`"before":{"capacity":0,"blocked":false},"after":{"blocked":true,"status":"SESSION_STATUS_PUBLISHED"}}}`,
		},
		{
			event.SessionUpdated{After: event.SessionFields{
				Service: event.Changed(new(id[tenant.ServiceID]())), Location: event.Changed(new(id[tenant.LocationID]())),
				Resource: event.Changed(new(id[tenant.ResourceID]())), Coach: event.Changed(new(id[tenant.MemberID]())),
				Title: event.Changed(new("Yoga")), Description: event.Changed(new("x")),
				WaitlistCapacity: event.Changed(new(4)), End: event.Changed(&noon), StateReason: event.Changed(new("y")),
				Workouts: event.Changed(&[]tenant.WorkoutID{id[tenant.WorkoutID]()}),
			}}, event.Facts{}, event.Whole,
			`{"session":{"changedFields":["service_id","location_id","resource_id","coach_id","title","description",` +
				`"waitlist_capacity","end_time","status_reason","workout_ids"],"after":{"serviceId":"` + someID +
				`","locationId":"` + someID + `","resourceId":"` + someID + `","coachId":"` + someID +
				`","title":"Yoga","description":"x","waitlistCapacity":4,"endTime":"2026-03-16T12:00:00Z",` +
				`"statusReason":"y","workoutIds":["` + someID + `"]}}}`,
		},
		{event.SessionUpdated{}, event.Facts{}, event.Public, ""},
		{
			event.SessionPublished{Batch: id[tenant.BatchID]()}, event.Facts{}, event.Whole,
			`{"session":{"batchId":"` + someID + `"}}`,
		},
		{event.SessionUnpublished{}, event.Facts{}, event.Whole, `{"session":{}}`},
		{event.SessionBlocked{Reason: "flood"}, event.Facts{}, event.Whole, `{"session":{"reason":"flood"}}`},
		{event.SessionUnblocked{}, event.Facts{}, event.Whole, `{"session":{}}`},
		{
			event.SessionCancelled{Reason: "flood"}, event.Facts{Status: "CANCELLED"}, event.Whole,
			`{"session":{"status":"SESSION_STATUS_CANCELLED","reason":"flood","notify":false}}`,
		},
		{
			event.SessionDeleted{Reason: "flood", Notify: true}, event.Facts{}, event.Whole,
			`{"session":{"reason":"flood","notify":true}}`,
		},
		{event.BookingConfirmed{}, booked, event.Own, `{"booking":{` + bookedText + `}}`},
		{event.WaitlistPromoted{}, booked, event.Whole, `{"booking":{` + bookedText + `}}`},
		{
			event.BookingRescheduled{FromSession: id[tenant.SessionID](), FromStart: noon, Notify: true}, booked, event.Whole,
			`{"booking":{` + bookedText + `,"fromSessionId":"` + someID + `","fromStartTime":"2026-03-16T12:00:00Z",` +
				`"notify":true}}`,
		},
		{
			event.BookingCancelled{Refunded: true, Reason: "ill", SessionGone: true}, ended, event.Whole,
			`{"booking":{"status":"BOOKING_STATUS_CANCELLED","partySize":1,"late":false,"creditRefunded":true,"reason":"ill",` +
				`"sessionCancelled":true,"notify":false}}`,
		},
		{
			event.BookingCancelled{Late: true, Reason: "ill", SessionGone: true}, ended, event.Own,
			`{"booking":{"status":"BOOKING_STATUS_CANCELLED","partySize":1,"late":true,"creditRefunded":false,"reason":"ill"}}`,
		},
		{event.BookingReminderDue{LeadSeconds: 60}, event.Facts{}, event.Whole, `{"booking":{"remindBefore":"60s"}}`},
		{event.BookingReminderDue{LeadSeconds: 60}, event.Facts{}, event.Own, `{"booking":{}}`},
		{
			event.WaitlistJoined{Position: 2}, event.Facts{Status: "WAITING", Party: 1}, event.Own,
			`{"waitlistEntry":{"status":"WAITLIST_ENTRY_STATUS_WAITING","partySize":1,"position":2}}`,
		},
		{
			left, waited, event.Whole, `{"waitlistEntry":{"status":"WAITLIST_ENTRY_STATUS_EXPIRED","partySize":2,` +
				`"externalRef":"x-1","reason":"late","notify":true}}`,
		},
		{
			left, waited, event.Own,
			`{"waitlistEntry":{"status":"WAITLIST_ENTRY_STATUS_EXPIRED","partySize":2,"externalRef":"x-1","reason":"late"}}`,
		},
		{
			event.WaitlistChanged{Score: new(0), Position: 1, PositionBefore: 3}, event.Facts{}, event.Whole,
			`{"waitlistEntry":{"position":1,"previousPosition":3,"flagged":false,"score":0}}`,
		},
		{
			event.WaitlistChanged{Flagged: true, Score: new(7), Position: 1, PositionBefore: 3}, event.Facts{}, event.Own,
			`{"waitlistEntry":{"position":1}}`,
		},
		{
			event.WaitlistStaffNote{Decision: id[tenant.DecisionID](), Move: "NOBODY_FITS", Note: "call"},
			event.Facts{}, event.Whole,
			`{"waitlistNote":{"decisionId":"` + someID + `","move":"WAITLIST_MOVE_NOBODY_FITS","note":"call"}}`,
		},
		{event.WaitlistStaffNote{Note: "call"}, event.Facts{}, event.Own, ""},
		{
			event.OfferCreated{Expires: noon, Try: 2}, event.Facts{Status: "LIVE", Party: 2}, event.Whole,
			`{"waitlistOffer":{"status":"WAITLIST_OFFER_STATUS_LIVE","partySize":2,"expireTime":"2026-03-16T12:00:00Z",` +
				`"firstToClaim":false,"attempt":2}}`,
		},
		{
			event.OfferCreated{Expires: noon, FirstToClaim: true, Try: 2}, event.Facts{}, event.Own,
			`{"waitlistOffer":{"expireTime":"2026-03-16T12:00:00Z","firstToClaim":true}}`,
		},
		{
			event.OfferExtended{Expires: noon}, event.Facts{}, event.Own,
			`{"waitlistOffer":{"expireTime":"2026-03-16T12:00:00Z"}}`,
		},
		{event.OfferAccepted{Reason: "a"}, event.Facts{}, event.Own, `{"waitlistOffer":{"reason":"a"}}`},
		{event.OfferDeclined{Reason: "a"}, event.Facts{}, event.Own, `{"waitlistOffer":{"reason":"a"}}`},
		{
			event.OfferExpired{Reason: "a"}, event.Facts{Status: "EXPIRED"}, event.Own,
			`{"waitlistOffer":{"status":"WAITLIST_OFFER_STATUS_EXPIRED","reason":"a"}}`,
		},
		{
			event.OfferWithdrawn{Cause: "SESSION_CANCELLED", Reason: "flood"}, event.Facts{}, event.Own,
			`{"waitlistOffer":{"withdrawReason":"WAITLIST_OFFER_WITHDRAW_REASON_SESSION_CANCELLED","reason":"flood"}}`,
		},
		{
			event.DisplaySecondScreen{Link: id[tenant.DisplayLinkID]()}, event.Facts{}, event.Whole,
			`{"checkInDisplay":{"displayLinkId":"` + someID + `"}}`,
		},
		{event.CreditsChanged{Amount: -1, Balance: 4}, event.Facts{}, event.Own, `{"credits":{"amount":-1,"balance":4}}`},
		{
			event.SubscriptionChanged{Plan: id[tenant.PlanID](), End: noon, StatusBefore: "PAUSED", EndBefore: noon},
			event.Facts{Status: "ACTIVE"}, event.Own,
			`{"subscription":{"planId":"` + someID + `","status":"SUBSCRIPTION_STATUS_ACTIVE",` +
				`"endTime":"2026-03-16T12:00:00Z",` +
				`"previousStatus":"SUBSCRIPTION_STATUS_PAUSED","previousEndTime":"2026-03-16T12:00:00Z"}}`,
		},
		{event.MemberChanged{Changed: []string{"name"}}, event.Facts{}, event.Own, `{"member":{"changedFields":["name"]}}`},
		{event.AccessChanged{}, event.Facts{}, event.Whole, `{"access":{}}`},
		{
			event.AccessChanged{
				Roles: []string{}, Change: "ROLE_TAKEN", Role: "admin", ServiceAccount: id[tenant.ServiceAccountID](),
				FromMember: id[tenant.MemberID](),
			}, event.Facts{}, event.Whole,
			`{"access":{"rolesChanged":true,"change":"ACCESS_CHANGE_ROLE_TAKEN","role":"admin","serviceAccountId":"` + someID +
				`","fromMemberId":"` + someID + `"}}`,
		},
		{
			event.CatalogChanged{Kind: "benefit_provider", ID: "gym"}, event.Facts{}, event.Whole,
			`{"catalog":{"kind":"CATALOG_KIND_BENEFIT_PROVIDER","id":"gym"}}`,
		},
		{
			event.RulesChanged{Version: 3, Level: "SERVICE", Target: id[tenant.ServiceID]().UUID}, event.Facts{}, event.Whole,
			`{"waitlistRules":{"version":3,"level":"SETTING_LEVEL_SERVICE","targetId":"` + someID + `"}}`,
		},
		{event.Unknown{Of: "booking.vanished"}, booked, event.Whole, ""},
	} {
		e := &events.EventRecord{View: tt.view}
		e.Data, e.Facts = tt.view.Of(tt.data), tt.facts
		got := new(v1.Event)
		setDetails(got, e)
		if tt.view == event.Public {
			got = &v1.Event{Details: eventMessage(tenant.TenantID{}, e).GetDetails()}
		}
		if tt.want == "" {
			test.Nil(t, got.GetDetails(), test.Sprint(tt.data))
			continue
		}
		text := expect.Value(protojson.Marshal(got))(t)
		test.EqJSON(t, tt.want, string(text), test.Sprint(tt.data))
	}
}

// Each type has details if all of it may be seen, and no enum of it is unknown to the contract.
func TestDetails_AreThereForEachType(t *testing.T) {
	t.Parallel()
	for _, of := range event.Types() {
		e := &events.EventRecord{}
		if e.Data = (event.Data)(event.SessionSeatsChanged{}); of != e.Data.Type() {
			e.Data = expect.Value(event.Decode(of, []byte(`{}`)))(t)
		}
		m := eventMessage(tenant.TenantID{}, e)
		test.NotNil(t, m.GetDetails(), test.Sprint(of))
		must.NotEq(t, v1.EventType_EVENT_TYPE_UNSPECIFIED, m.GetType(), must.Sprint(of))
	}
	for _, kind := range []string{
		"tenant", "location", "resource", "service", "item", "benefit_provider", "workout", "policy", "plan",
	} {
		e := &events.EventRecord{}
		e.Data = event.CatalogChanged{Kind: kind}
		got := eventMessage(tenant.TenantID{}, e).GetCatalog().GetKind()
		test.EqOp(t, "CATALOG_KIND_"+strings.ToUpper(kind), got.String())
	}
}

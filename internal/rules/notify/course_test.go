package notify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStanding_AfterEachStepOfANotice(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: Promoted, Lane: Alert, Tried: []Channel{Push}, Attempts: 2, Unsure: 1}
	later := monday.Add(time.Hour)
	for what, c := range map[string]struct{ got, want Standing }{
		"begun": {
			n.Begun(monday),
			Standing{DueAt: monday.Add(2 * time.Minute), Sending: true, Tried: n.Tried, Attempts: 2, Unsure: 1},
		},
		"waits":  {n.Waiting(later), Standing{DueAt: later, Tried: n.Tried, Attempts: 2, Unsure: 1}},
		"closed": {n.Closed(monday), Standing{DueAt: monday, Tried: n.Tried, Attempts: 2, Unsure: 1, Done: true}},
		"sent": {
			n.Concluded(SMS, Conclusion{Done: true}, monday),
			Standing{Attempt: 2, Channels: 1, DueAt: monday, Tried: n.Tried, Attempts: 2, Unsure: 1, Done: true},
		},
		"retry": {
			n.Concluded(SMS, Conclusion{LookAt: later}, monday),
			Standing{Attempt: 2, Channels: 1, DueAt: later, Tried: n.Tried, Attempts: 2, Unsure: 1},
		},
		"unknown result": {
			n.Concluded(SMS, Conclusion{Unsure: true, LookAt: later}, monday),
			Standing{Attempt: 2, Channels: 1, DueAt: later, Sending: true, Tried: n.Tried, Attempts: 2, Unsure: 1},
		},
		"next channel": {
			n.Concluded(SMS, Conclusion{Tried: true, LookAt: monday}, monday),
			Standing{Attempt: 2, Channels: 1, DueAt: monday, Tried: []Channel{Push, SMS}, Unsure: 1},
		},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if len(n.Tried) != 1 {
		t.Errorf("the notice itself changed: %v", n.Tried)
	}
}

func TestResumed_EndsIfTakenOrTooOftenUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was    DeliveryStatus
		unsure int
		over   bool
		why    Reason
	}{
		{PossiblySent, 0, false, ""},
		{PossiblySent, 1, false, ""},
		{PossiblySent, 2, true, MaybeSent},
		{Failed, 0, false, ""},
		{Queued, 0, true, ""},
		{Sent, 2, true, ""},
		{Delivered, 0, true, ""},
		{Read, 0, true, ""},
	} {
		again, over, why := Notice{Unsure: c.unsure}.Resumed(c.was)
		if over != c.over || why != c.why {
			t.Errorf("%s after %d others: over %v because of %q", c.was, c.unsure, over, why)
		}
		if !over && again.Unsure != c.unsure+1 {
			t.Errorf("%s after %d others: %d are unsure", c.was, c.unsure, again.Unsure)
		}
	}
}

func TestWarning_ComesInLastQuarterOfOffersOnly(t *testing.T) {
	t.Parallel()
	offer := Notice{Topic: Offered, Lane: Mail, Revision: "1", Attempts: 3, Tried: []Channel{Push}}
	ends := monday.Add(40 * time.Minute)
	want := Notice{Topic: OfferExpiring, Lane: Alert, Revision: "1", DueAt: monday.Add(30 * time.Minute), ExpiresAt: ends}
	if got, ok := offer.Warning(monday, ends); !ok || cmp.Diff(want, got) != "" {
		t.Error(cmp.Diff(want, got))
	}
	if _, ok := offer.Warning(monday, monday.Add(9*time.Minute)); ok {
		t.Error("a window of nine minutes is too short for a second message")
	}
	if _, ok := (Notice{Topic: BookingConfirmed}).Warning(monday, ends); ok {
		t.Error("a confirmation has no warning")
	}
}

func TestJudge_BookingFromAnOfferRespectsQuietHours(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	night := time.Date(2026, 3, 16, 23, 0, 0, 0, berlin)
	n := Notice{
		Topic: BookingConfirmed, Lane: Mail, StartsAt: night.Add(24 * time.Hour),
		ExpiresAt: night.Add(24 * time.Hour),
	}
	to := Recipient{Known: true, Email: "mia@example.com", Zone: berlin}
	m := Matter{Booked: true, StartsAt: n.StartsAt, Offer: &Offer{EvenInQuiet: true}}
	want := Verdict{Action: Defer, Until: time.Date(2026, 3, 17, 8, 0, 0, 0, berlin), Reason: InQuietHours}
	if diff := cmp.Diff(want, Judge(n, DefaultSettings(), to, m, night)); diff != "" {
		t.Error(diff)
	}
}

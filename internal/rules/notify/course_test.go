package notify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
)

func TestNoticeState_FollowsStepsOfNotice(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: Promoted, Lane: Alert, FailedChannels: []Channel{Push}, Attempts: 2, UnknownResults: 1}
	later := monday.Add(time.Hour)
	for what, c := range map[string]struct{ got, want NoticeState }{
		"begun": {
			n.Started(monday),
			NoticeState{DueAt: monday.Add(2 * time.Minute), Sending: true, Tried: n.FailedChannels, Attempts: 2, Unsure: 1},
		},
		"waits":  {n.Waiting(later), NoticeState{DueAt: later, Tried: n.FailedChannels, Attempts: 2, Unsure: 1}},
		"closed": {n.Closed(monday), NoticeState{DueAt: monday, Tried: n.FailedChannels, Attempts: 2, Unsure: 1, Done: true}},
		"sent": {
			n.AfterAttempt(SMS, Outcome{Done: true}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: monday, Tried: n.FailedChannels, Attempts: 2, Unsure: 1, Done: true},
		},
		"retry": {
			n.AfterAttempt(SMS, Outcome{NextAt: later}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: later, Tried: n.FailedChannels, Attempts: 2, Unsure: 1},
		},
		"unknown result": {
			n.AfterAttempt(SMS, Outcome{Unknown: true, NextAt: later}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: later, Sending: true, Tried: n.FailedChannels, Attempts: 2, Unsure: 1},
		},
		"next channel": {
			n.AfterAttempt(SMS, Outcome{ChannelFailed: true, NextAt: monday}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: monday, Tried: []Channel{Push, SMS}, Unsure: 1},
		},
	} {
		test.Eq(t, c.want, c.got, test.Sprint(what))
	}
	test.EqOp(t, 1, len(n.FailedChannels), test.Sprintf("the notice itself changed: %v", n.FailedChannels))
}

func TestResume_EndsIfAcceptedOrTooOftenUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status DeliveryStatus
		unsure int
		closed bool
		reason Reason
	}{
		{PossiblySent, 0, false, ""},
		{PossiblySent, 1, false, ""},
		{PossiblySent, 2, true, PossiblySentReason},
		{Failed, 0, false, ""},
		{Queued, 0, true, ""},
		{Sent, 2, true, ""},
		{Delivered, 0, true, ""},
		{Read, 0, true, ""},
	} {
		again, closed, reason := Notice{UnknownResults: c.unsure}.Resume(c.status)
		test.EqOp(t, c.closed, closed,
			test.Sprintf("%s after %d others: over %v because of %q", c.status, c.unsure, closed, reason))
		test.EqOp(t, c.reason, reason,
			test.Sprintf("%s after %d others: over %v because of %q", c.status, c.unsure, closed, reason))
		test.False(
			t, !closed && again.UnknownResults != c.unsure+1,
			test.Sprintf("%s after %d others: %d are unsure", c.status, c.unsure, again.UnknownResults),
		)
	}
}

func TestExpiryWarning_ComesInLastQuarterOfOffersOnly(t *testing.T) {
	t.Parallel()
	offer := Notice{Topic: Offered, Lane: Mail, Revision: "1", Attempts: 3, FailedChannels: []Channel{Push}}
	ends := monday.Add(40 * time.Minute)
	want := Notice{Topic: OfferExpiring, Lane: Alert, Revision: "1", DueAt: monday.Add(30 * time.Minute), ExpiresAt: ends}
	got, ok := offer.ExpiryWarning(monday, ends)
	test.True(t, ok, test.Sprint(cmp.Diff(want, got)))
	test.EqOp(t, "", cmp.Diff(want, got))
	_, ok = offer.ExpiryWarning(monday, monday.Add(9*time.Minute))
	test.False(t, ok, test.Sprint("a window of nine minutes is too short for a second message"))
	_, ok = (Notice{Topic: BookingConfirmed}).ExpiryWarning(monday, ends)
	test.False(t, ok, test.Sprint("a confirmation has no warning"))
}

func TestDecide_BookingFromOfferRespectsQuietHours(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	night := time.Date(2026, 3, 16, 23, 0, 0, 0, berlin)
	n := Notice{
		Topic: BookingConfirmed, Lane: Mail, StartsAt: night.Add(24 * time.Hour),
		ExpiresAt: night.Add(24 * time.Hour),
	}
	to := Recipient{Known: true, Email: "mia@example.com", Zone: berlin}
	m := Facts{Booked: true, StartsAt: n.StartsAt, Offer: &Offer{EvenInQuiet: true}}
	want := Decision{Action: Defer, Until: time.Date(2026, 3, 17, 8, 0, 0, 0, berlin), Reason: QuietHoursReason}
	test.Eq(t, want, Decide(n, DefaultSettings(), to, m, night))
}

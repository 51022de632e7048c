package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
)

func TestNoticeState_FollowsStepsOfNotice(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: Promoted, Lane: Alert, FailedChannels: []delivery.Channel{push}, Attempts: 2, UnknownResults: 1}
	later := monday.Add(time.Hour)
	for what, c := range map[string]struct{ got, want NoticeState }{
		"begun": {
			n.Started(monday),
			NoticeState{DueAt: monday.Add(2 * time.Minute), Sending: true, Tried: n.FailedChannels, Attempts: 2, Unsure: 1},
		},
		"waits":  {n.Waiting(later), NoticeState{DueAt: later, Tried: n.FailedChannels, Attempts: 2, Unsure: 1}},
		"closed": {n.Closed(monday), NoticeState{DueAt: monday, Tried: n.FailedChannels, Attempts: 2, Unsure: 1, Done: true}},
		"sent": {
			n.AfterAttempt(sms, Outcome{Done: true}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: monday, Tried: n.FailedChannels, Attempts: 2, Unsure: 1, Done: true},
		},
		"retry": {
			n.AfterAttempt(sms, Outcome{NextAt: later}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: later, Tried: n.FailedChannels, Attempts: 2, Unsure: 1},
		},
		"unknown result": {
			n.AfterAttempt(sms, Outcome{Unknown: true, NextAt: later}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: later, Sending: true, Tried: n.FailedChannels, Attempts: 2, Unsure: 1},
		},
		"next channel": {
			n.AfterAttempt(sms, Outcome{ChannelFailed: true, NextAt: monday}, monday),
			NoticeState{Attempt: 2, Channels: 1, DueAt: monday, Tried: []delivery.Channel{push, sms}, Unsure: 1},
		},
	} {
		test.Eq(t, c.want, c.got, test.Sprint(what))
	}
	test.EqOp(t, 1, len(n.FailedChannels), test.Sprintf("the notice itself changed: %v", n.FailedChannels))
}

func TestResume_EndsIfAcceptedOrTooOftenUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status delivery.Status
		unsure int
		closed bool
		reason Reason
	}{
		{delivery.PossiblySent, 0, false, ""},
		{delivery.PossiblySent, 1, false, ""},
		{delivery.PossiblySent, 2, true, PossiblySent},
		{delivery.Failed, 0, false, ""},
		{delivery.Queued, 0, true, ""},
		{delivery.Sent, 2, true, ""},
		{delivery.Delivered, 0, true, ""},
		{delivery.Read, 0, true, ""},
	} {
		again, closed, reason := Notice{UnknownResults: c.unsure}.Resume(c.status)
		test.EqOp(t, c.closed, closed, test.Sprintf("%s after %d others", c.status, c.unsure))
		test.EqOp(t, c.reason, reason, test.Sprintf("%s after %d others", c.status, c.unsure))
		test.False(
			t, !closed && again.UnknownResults != c.unsure+1,
			test.Sprintf("%s after %d others: %d are unsure", c.status, c.unsure, again.UnknownResults),
		)
	}
}

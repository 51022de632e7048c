package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestNoticeState_FollowsStepsOfNotice(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: Promoted, Lane: Alert, FailedChannels: []delivery.Channel{push}, Attempts: 2, UnknownResults: 1}
	later := monday.Add(time.Hour)
	waiting := NoticeState{DueAt: later, FailedChannels: n.FailedChannels, Attempts: 2, UnknownResults: 1}
	after := set{"AfterAttempt": 2, "AfterChannels": 1}
	for what, c := range map[string]struct {
		got    NoticeState
		differ []set
	}{
		"begun":  {n.Started(monday), []set{{"DueAt": monday.Add(2 * time.Minute), "Sending": true}}},
		"waits":  {n.Waiting(later), nil},
		"closed": {n.Closed(monday), []set{{"DueAt": monday, "Done": true}}},
		"sent": {
			n.AfterAttempt(sms, Outcome{Done: true}, monday), []set{after, {"DueAt": monday, "Done": true}},
		},
		"retry": {n.AfterAttempt(sms, Outcome{NextAt: later}, monday), []set{after}},
		"unknown result": {
			n.AfterAttempt(sms, Outcome{Unknown: true, NextAt: later}, monday), []set{after, {"Sending": true}},
		},
		"next channel": {
			n.AfterAttempt(sms, Outcome{ChannelFailed: true, NextAt: monday}, monday),
			[]set{after, {"DueAt": monday, "FailedChannels": []delivery.Channel{push, sms}, "Attempts": 0}},
		},
	} {
		want := waiting
		for _, differ := range c.differ {
			want = vary.From(want, differ)
		}
		test.Eq(t, want, c.got, test.Sprint(what))
	}
	test.Len(t, 1, n.FailedChannels, test.Sprint("the notice itself changed"))
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

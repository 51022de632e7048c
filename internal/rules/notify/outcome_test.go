package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestAfterAttempt_RetriesOrMovesToNextChannel(t *testing.T) {
	t.Parallel()
	failed := func(kinds ...FailureKind) []Attempt {
		var all []Attempt
		for _, k := range kinds {
			all = append(all, Attempt{Err: &SendError{Kind: k}})
		}
		return all
	}
	reminder := Notice{Topic: Reminder, Lane: Alert, Attempts: 1, ExpiresAt: monday.Add(time.Hour)}
	late := failed(Transient)
	late[0].Err.RetryAfter = 2 * time.Hour
	for _, c := range []struct {
		what     string
		n        Notice
		attempts []Attempt
		want     Outcome
	}{
		{"sent", reminder, []Attempt{{}}, Outcome{Done: true}},
		{
			"one of three devices is enough", reminder, append(failed(Unregistered, Unknown), Attempt{}),
			Outcome{Done: true},
		},
		{"busy", reminder, failed(Transient), Outcome{NextAt: monday.Add(10 * time.Second), Reason: ProviderUnavailable}},
		{
			"busy for the third time", vary.From(reminder, set{"Attempts": 3}), failed(Transient),
			Outcome{NextAt: monday.Add(40 * time.Second), Reason: ProviderUnavailable},
		},
		{
			"busy too often", vary.From(reminder, set{"Attempts": 6}), failed(Transient),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"busy until it is too late", reminder, late,
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"an offer moves on early", vary.From(reminder, set{"Topic": Offered, "Attempts": 2}),
			failed(Transient), Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"busy too often, no other channel",
			vary.From(reminder, set{"Attempts": 6, "LastChannel": true, "ExpiresAt": monday.Add(48 * time.Hour)}), failed(
				Transient,
			),
			Outcome{NextAt: monday.Add(5 * time.Minute), Reason: ProviderUnavailable},
		},
		{
			"busy for hours, no other channel",
			vary.From(reminder, set{"Attempts": 24, "LastChannel": true, "ExpiresAt": monday.Add(48 * time.Hour)}), failed(
				Transient,
			),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"an offer waits a little if there is no other channel",
			vary.From(reminder, set{"Topic": Offered, "Attempts": 2, "LastChannel": true}), failed(Transient),
			Outcome{NextAt: monday.Add(3 * time.Second), Reason: ProviderUnavailable},
		},
		{"rejected", reminder, failed(Permanent), Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderRefused}},
		{"unregistered", reminder, failed(Unregistered), Outcome{ChannelFailed: true, NextAt: monday, Reason: NotRegistered}},
		{
			"no answer", reminder, failed(Unknown),
			Outcome{Unknown: true, NextAt: monday.Add(time.Minute), Reason: PossiblySentReason},
		},
		{
			"misconfigured: another channel", reminder, failed(Misconfigured),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: MisconfiguredSender},
		},
		{
			"misconfigured, all other channels tried",
			vary.From(reminder, set{"FailedChannels": []Channel{SMS, Email}}), failed(Misconfigured),
			Outcome{NextAt: monday.Add(10 * time.Minute), Reason: MisconfiguredSender},
		},
		{
			"misconfigured, no other channel reaches the recipient",
			vary.From(reminder, set{"LastChannel": true}), failed(Misconfigured),
			Outcome{NextAt: monday.Add(10 * time.Minute), Reason: MisconfiguredSender},
		},
		{
			"rejected, no other channel reaches the recipient",
			vary.From(reminder, set{"LastChannel": true}), failed(Permanent),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderRefused},
		},
	} {
		test.Eq(t, c.want, AfterAttempt(c.n, Push, c.attempts, monday, 0.5), test.Sprint(c.what))
	}
}

package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"
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
	change := func(f func(*Notice)) Notice {
		n := reminder
		f(&n)
		return n
	}
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
			"busy for the third time", change(func(n *Notice) { n.Attempts = 3 }), failed(Transient),
			Outcome{NextAt: monday.Add(40 * time.Second), Reason: ProviderUnavailable},
		},
		{
			"busy too often", change(func(n *Notice) { n.Attempts = 6 }), failed(Transient),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"busy until it is too late", reminder, late,
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"an offer moves on early", change(func(n *Notice) { n.Topic, n.Attempts = Offered, 2 }),
			failed(Transient), Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"busy too often, no other channel",
			change(
				func(n *Notice) { n.Attempts, n.LastChannel, n.ExpiresAt = 6, true, monday.Add(48*time.Hour) },
			), failed(Transient),
			Outcome{NextAt: monday.Add(5 * time.Minute), Reason: ProviderUnavailable},
		},
		{
			"busy for hours, no other channel",
			change(
				func(n *Notice) { n.Attempts, n.LastChannel, n.ExpiresAt = 24, true, monday.Add(48*time.Hour) },
			), failed(Transient),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"an offer waits a little if there is no other channel",
			change(func(n *Notice) { n.Topic, n.Attempts, n.LastChannel = Offered, 2, true }), failed(Transient),
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
			change(func(n *Notice) { n.FailedChannels = []Channel{SMS, Email} }), failed(Misconfigured),
			Outcome{NextAt: monday.Add(10 * time.Minute), Reason: MisconfiguredSender},
		},
		{
			"misconfigured, no other channel reaches the recipient",
			change(func(n *Notice) { n.LastChannel = true }), failed(Misconfigured),
			Outcome{NextAt: monday.Add(10 * time.Minute), Reason: MisconfiguredSender},
		},
		{
			"rejected, no other channel reaches the recipient",
			change(func(n *Notice) { n.LastChannel = true }), failed(Permanent),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderRefused},
		},
	} {
		test.Eq(t, c.want, AfterAttempt(c.n, Push, c.attempts, monday, 0.5), test.Sprint(c.what))
	}
}

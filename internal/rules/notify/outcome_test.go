package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestAfterAttempt_RetriesOrMovesToNextChannel(t *testing.T) {
	t.Parallel()
	failed := func(kinds ...delivery.FailureKind) []Attempt {
		var all []Attempt
		for _, k := range kinds {
			all = append(all, Attempt{Err: &delivery.Error{Kind: k}})
		}
		return all
	}
	reminder := Notice{Topic: Reminder, Lane: Alert, Attempts: 1, ExpiresAt: monday.Add(time.Hour)}
	late := failed(delivery.Transient)
	late[0].Err.RetryAfter = 2 * time.Hour
	for _, c := range []struct {
		what     string
		n        Notice
		attempts []Attempt
		want     Outcome
	}{
		{"sent", reminder, []Attempt{{}}, Outcome{Done: true}},
		{
			"one of three devices is enough", reminder, append(failed(delivery.Unregistered, delivery.Unknown), Attempt{}),
			Outcome{Done: true},
		},
		{
			"busy", reminder, failed(delivery.Transient),
			Outcome{NextAt: monday.Add(10 * time.Second), Reason: ProviderUnavailable},
		},
		{
			"busy for the third time", vary.From(reminder, set{"Attempts": 3}), failed(delivery.Transient),
			Outcome{NextAt: monday.Add(40 * time.Second), Reason: ProviderUnavailable},
		},
		{
			"busy too often", vary.From(reminder, set{"Attempts": 6}), failed(delivery.Transient),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"busy until it is too late", reminder, late,
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"an offer moves on early", vary.From(reminder, set{"Topic": Offered, "Attempts": 2}),
			failed(delivery.Transient), Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"busy too often, no other channel",
			vary.From(reminder, set{"Attempts": 6, "LastChannel": true, "ExpiresAt": monday.Add(48 * time.Hour)}), failed(
				delivery.Transient,
			),
			Outcome{NextAt: monday.Add(5 * time.Minute), Reason: ProviderUnavailable},
		},
		{
			"busy for hours, no other channel",
			vary.From(reminder, set{"Attempts": 24, "LastChannel": true, "ExpiresAt": monday.Add(48 * time.Hour)}), failed(
				delivery.Transient,
			),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderUnavailable},
		},
		{
			"an offer waits a little if there is no other channel",
			vary.From(reminder, set{"Topic": Offered, "Attempts": 2, "LastChannel": true}), failed(delivery.Transient),
			Outcome{NextAt: monday.Add(3 * time.Second), Reason: ProviderUnavailable},
		},
		{
			"rejected", reminder, failed(delivery.Permanent),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderRefused},
		},
		{
			"unregistered", reminder, failed(delivery.Unregistered),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: Unregistered},
		},
		{
			"no answer", reminder, failed(delivery.Unknown),
			Outcome{Unknown: true, NextAt: monday.Add(time.Minute), Reason: PossiblySent},
		},
		{
			"misconfigured: another channel", reminder, failed(delivery.Misconfigured),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: Misconfigured},
		},
		{
			"misconfigured, all other channels tried",
			vary.From(reminder, set{"FailedChannels": []delivery.Channel{sms, email}}), failed(delivery.Misconfigured),
			Outcome{NextAt: monday.Add(10 * time.Minute), Reason: Misconfigured},
		},
		{
			"misconfigured, no other channel reaches the recipient",
			vary.From(reminder, set{"LastChannel": true}), failed(delivery.Misconfigured),
			Outcome{NextAt: monday.Add(10 * time.Minute), Reason: Misconfigured},
		},
		{
			"rejected, no other channel reaches the recipient",
			vary.From(reminder, set{"LastChannel": true}), failed(delivery.Permanent),
			Outcome{ChannelFailed: true, NextAt: monday, Reason: ProviderRefused},
		},
	} {
		test.Eq(t, c.want, AfterAttempt(c.n, push, c.attempts, monday, 0.5), test.Sprint(c.what))
	}
}

func TestStopReason_IsForDeadAndUnwillingAddresses(t *testing.T) {
	t.Parallel()
	test.EqOp(t, "", StopReason(nil))
	for kind, want := range map[delivery.FailureKind]Reason{
		delivery.OptedOut: OptedOut, delivery.Unregistered: Bounced, delivery.Permanent: "", delivery.Transient: "",
	} {
		test.EqOp(t, want, StopReason(&delivery.Error{Kind: kind}), test.Sprint(kind))
	}
}

func TestOutcome_IsNotSentUnlessDoneOrUnknown(t *testing.T) {
	t.Parallel()
	for _, o := range []Outcome{{}, {Done: true}, {Unknown: true}, {ChannelFailed: true}} {
		test.EqOp(t, !o.Done && !o.Unknown, o.NotSent(), test.Sprintf("%+v", o))
	}
}

func TestRetries_OfOffersArePatientForHalfAMinute(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: Offered, Lane: Alert, LastChannel: true, ExpiresAt: monday.Add(time.Hour)}
	busy := []Attempt{{Err: &delivery.Error{Kind: delivery.Transient}}}
	for attempts, want := range map[int]int{1: 3, 2: 6, 3: 12, 4: 20, 5: 20} {
		n.Attempts = attempts
		test.EqOp(t, time.Duration(want)*time.Second,
			AfterAttempt(n, sms, busy, monday, 0.999999999).NextAt.Sub(monday).Round(time.Second))
	}
	n.Attempts = 6
	test.True(t, AfterAttempt(n, sms, busy, monday, 0.5).ChannelFailed)
}

package messages_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// taken takes what is due, and gives the messages over one channel. Those of the others are answered for.
func taken(studio *messagetest.Studio, c delivery.Channel) []messages.Outgoing {
	studio.T.Helper()
	studio.Plan()
	all := expect.Value(studio.App.Messages.TakeNotices(studio.T.Context(), studio.Tenant))(studio.T)
	others := slices.DeleteFunc(slices.Clone(all.Out), func(o messages.Outgoing) bool { return o.Message.Channel == c })
	settle(studio, nil, others...)
	return slices.DeleteFunc(all.Out, func(o messages.Outgoing) bool { return o.Message.Channel != c })
}

// settle writes what a sender gave for messages: an error, or that they were sent.
func settle(studio *messagetest.Studio, failed error, sent ...messages.Outgoing) {
	studio.T.Helper()
	var attempts []messages.AttemptResult
	for _, o := range sent {
		a := messages.AttemptResult{Outgoing: o, Err: failed}
		if failed == nil {
			a.Receipt = delivery.Receipt{ProviderID: "p-" + o.Message.ID.String(), Status: delivery.Sent}
		}
		attempts = append(attempts, a)
	}
	studio.NoError(studio.App.Messages.SettleDeliveries(studio.T.Context(), studio.Tenant, attempts))
}

// report is what a provider tells of a message later.
func report(studio *messagetest.Studio, of messages.Outgoing, status delivery.Status) {
	studio.T.Helper()
	r := messages.DeliveryReport{Delivery: of.Message.ID, Status: status}
	if status.NotDelivered() {
		r.Err = &delivery.Error{Kind: delivery.Permanent, Code: "GONE"}
	}
	studio.NoError(studio.App.Messages.ReportDelivery(studio.T.Context(), studio.Tenant, r))
}

// one fails unless there is one message.
func one(studio *messagetest.Studio, out []messages.Outgoing) messages.Outgoing {
	studio.T.Helper()
	must.EqOp(studio.T, 1, len(out), must.Sprintf("%d messages, want one", len(out)))
	return out[0]
}

// second gives a member another device.
func second(studio *messagetest.Studio, who tenant.Caller) {
	studio.T.Helper()
	expect.OK(studio.T)(
		studio.App.Accounts.RegisterDevice(studio.T.Context(), who, member.Android, "tablet-of-"+who.Subject),
	)
}

// lost is longer than the time after which an attempt without a result counts as lost.
const lost = 3 * time.Minute

// A push to several devices counts once where any of them takes it, also where the one that it is counted with does
// not.
func TestReports_PushIsDeliveredIfAnyDeviceAccepts(t *testing.T) {
	t.Parallel()
	type row struct {
		refused []int // by their place
		next    string
	}
	messagetest.Each(t, map[string]row{
		"the first refuses":  {[]int{0}, " DEFERRED FREQUENCY_CAP"},
		"the second refuses": {[]int{1}, " DEFERRED FREQUENCY_CAP"},
		"none refuses":       {nil, " DEFERRED FREQUENCY_CAP"},
		"both refuse":        {[]int{0, 1}, "PUSH SENT"},
	}, func(studio *messagetest.Studio, c row) {
		expect.OK(studio.T)(studio.App.Messages.UpdateNotificationSettings(
			studio.T.Context(), studio.Owner, nil, func(s *notify.Settings) { s.PerDay[push] = 1 },
		))
		mia := studio.AddReachable("Mia")
		second(studio, mia)
		studio.MustPlace(mia, studio.SessionAt(testkit.Noon.Add(48*time.Hour)))
		out := taken(studio, push)
		must.EqOp(studio.T, 2, len(out), must.Sprintf("%d messages", len(out)))
		var attempts []messages.AttemptResult
		for i, o := range out {
			a := messages.AttemptResult{
				Outgoing: o, Receipt: delivery.Receipt{ProviderID: o.Message.ID.String(), Status: delivery.Sent},
			}
			if slices.Contains(c.refused, i) {
				a = messages.AttemptResult{Outgoing: o, Err: &delivery.Error{Kind: delivery.Permanent, Code: "INVALID_ARGUMENT"}}
			}
			attempts = append(attempts, a)
		}
		studio.NoError(studio.App.Messages.SettleDeliveries(studio.T.Context(), studio.Tenant, attempts))
		counted := 1
		if len(c.refused) == len(out) {
			counted = 0
		}
		test.EqOp(studio.T, counted, studio.Count(`select count(*) from deliveries where channel = 'PUSH' and counted`),
			test.Sprintf("count, want %d", counted))
		settle(studio, nil, taken(studio, push)...)
		studio.Clock.Advance(time.Minute)
		studio.MustPlace(mia, studio.SessionAt(testkit.Noon.Add(96*time.Hour)))
		settle(studio, nil, taken(studio, push)...)
		lines := studio.Log(confirmed)
		test.True(studio.T, slices.Contains(lines[2:], c.next), test.Sprintf("no %q in %q", c.next, lines))
	})
}

// A provider may report before its answer is written down. What the answer says is of the past then.
func TestReports_AreNotUndoneByALaterResponse(t *testing.T) {
	t.Parallel()
	sent := map[string]error{
		"sent": nil, "unknown": &delivery.Error{Kind: delivery.Unknown},
		"refused": &delivery.Error{Kind: delivery.Permanent},
	}
	for name, answer := range sent {
		t.Run("lost before the answer: "+name, func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t)
			studio.Promote()
			first := one(studio, taken(studio, push))
			report(studio, first, delivery.Undelivered)
			settle(studio, answer, first)
			studio.Clock.Advance(time.Second)
			settle(studio, nil, one(studio, taken(studio, sms)))
			studio.WantLog("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS SENT")
			studio.Clock.Advance(lost)
			out := taken(studio, sms)
			test.EqOp(t, 0, len(out), test.Sprintf("sent again: %+v", out))
		})
		t.Run("the next channel is under way: "+name, func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t)
			studio.Promote()
			first := one(studio, taken(studio, push))
			report(studio, first, delivery.Undelivered)
			studio.Clock.Advance(time.Second)
			second := one(studio, taken(studio, sms))
			must.EqOp(t, second.Notice.ID, first.Notice.ID,
				must.Sprintf("%+v and %+v: the attempts have the same number", first.Notice, second.Notice))
			must.EqOp(t, second.Notice.Attempts, first.Notice.Attempts,
				must.Sprintf("%+v and %+v: the attempts have the same number", first.Notice, second.Notice))
			settle(studio, answer, first)
			// That of the second is open still: without it the attempt counts as lost, and is made again.
			studio.Clock.Advance(lost)
			again := one(studio, taken(studio, sms))
			must.EqOp(t, second.Notice.ID, again.Notice.ID, must.Sprintf("%+v", again.Notice))
			settle(studio, nil, again)
			studio.Clock.Advance(lost)
			out := taken(studio, sms)
			test.EqOp(t, 0, len(out), test.Sprintf("sent again: %+v", out))
			studio.WantLog(
				"the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS POSSIBLY_SENT",
				"SMS SENT again",
			)
		})
	}
	t.Run("the second was sent: the notice stays closed", func(t *testing.T) {
		t.Parallel()
		studio := messagetest.New(t)
		studio.Promote()
		first := one(studio, taken(studio, push))
		report(studio, first, delivery.Undelivered)
		studio.Clock.Advance(time.Second)
		settle(studio, nil, one(studio, taken(studio, sms)))
		settle(studio, &delivery.Error{Kind: delivery.Permanent}, first)
		studio.Clock.Advance(lost)
		settle(studio, nil, taken(studio, sms)...)
		studio.WantLog("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS SENT")
	})
}

// What a provider reports of a message is in the log. An address that refuses messages, or that does not exist, gets
// no more of them. A device does: only an answer to a push says that it is gone.
func TestReports_StopWhatRefusesMessages(t *testing.T) {
	t.Parallel()
	const number = "SMS +4915101000002 "
	type row struct {
		by     delivery.Channel
		status delivery.Status
		kind   delivery.FailureKind // "" without an error
		reason notify.Reason
		stops  string
	}
	messagetest.Each(t, map[string]row{
		"STOP":           {sms, delivery.Undelivered, delivery.OptedOut, notify.OptedOut, number + "OPTED_OUT"},
		"no such number": {sms, delivery.Failed, delivery.Unregistered, notify.Unregistered, number + "BOUNCED"},
		"no such address": {
			email, delivery.Bounced, delivery.Unregistered, notify.Unregistered, "EMAIL noa1@example.com BOUNCED",
		},
		"busy":           {sms, delivery.Undelivered, delivery.Transient, notify.ProviderUnavailable, ""},
		"the account":    {email, delivery.Undelivered, delivery.Misconfigured, notify.Misconfigured, ""},
		"no such device": {push, delivery.Undelivered, delivery.Unregistered, notify.Unregistered, ""},
		"it arrived":     {sms, delivery.Delivered, delivery.OptedOut, "", ""},
		"no error":       {sms, delivery.Undelivered, "", "", ""},
	}, func(studio *messagetest.Studio, c row) {
		noa := studio.Promote()
		if c.by == sms {
			studio.RemoveDevices(noa)
		}
		sent := one(studio, taken(studio, c.by))
		test.True(studio.T, sent.Message.HighPriority)
		studio.Clock.Advance(time.Second)
		r := messages.DeliveryReport{Delivery: sent.Message.ID, ProviderID: "SM1", Status: c.status, Segments: 2}
		want := messages.Delivery{Status: c.status, Reason: c.reason, ProviderID: "SM1", Segments: 2, Counted: true}
		if c.kind != "" {
			r.Err = &delivery.Error{Kind: c.kind, Code: "E1", Reason: "No."}
		}
		if c.reason != "" {
			want.ErrorCode, want.ErrorMessage = "E1", "No."
		}
		studio.NoError(studio.App.Messages.ReportDelivery(t.Context(), studio.Tenant, r))
		report(studio, sent, delivery.Sent) // it comes too late
		test.EqOp(studio.T, c.stops, studio.Text(`
select coalesce(string_agg(channel || ' ' || address || ' ' || reason, ' '), '') from notification_stops`))
		got := expect.Value(studio.App.Messages.ListNotificationDeliveries(
			t.Context(), studio.Owner, messages.DeliveryQuery{Topic: notify.Promoted, Channel: c.by, Limit: 9},
		))(studio.T)[0]
		test.EqOp(studio.T, c.kind == delivery.Transient, got.RetryAt.After(studio.Clock.Now()))
		test.Eq(studio.T, want, messages.Delivery{
			Status: got.Status, Reason: got.Reason, ErrorCode: got.ErrorCode, ErrorMessage: got.ErrorMessage,
			ProviderID: got.ProviderID, Segments: got.Segments, Counted: got.Counted,
		})
	})
}

// A node ends while the second channel is asked. What became of the first says nothing of that.
func TestReports_AfterANodeEndsOnTheSecondChannel(t *testing.T) {
	t.Parallel()
	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"more attempts on the first; the second has arrived": func(studio *messagetest.Studio) {
			studio.Promote()
			settle(studio, &delivery.Error{Kind: delivery.Transient}, one(studio, taken(studio, push)))
			studio.Clock.Advance(10 * time.Minute)
			settle(studio, &delivery.Error{Kind: delivery.Permanent}, one(studio, taken(studio, push)))
			studio.Clock.Advance(time.Second)
			report(studio, one(studio, taken(studio, sms)), delivery.Delivered)
			studio.Clock.Advance(lost)
			out := taken(studio, sms)
			test.EqOp(studio.T, 0, len(out), test.Sprintf("sent again: %+v", out))
			studio.WantLog(
				"the log", notify.Promoted, "PUSH FAILED PROVIDER_UNAVAILABLE", "EMAIL SENT", "PUSH FAILED PROVIDER_REFUSED",
				"SMS DELIVERED",
			)
		},
		"as many attempts, and one device has it; the outcome of the second is unknown": func(studio *messagetest.Studio) {
			second(studio, studio.Promote())
			out := taken(studio, push)
			must.EqOp(studio.T, 2, len(out), must.Sprintf("%d messages", len(out)))
			settle(studio, nil, out...)
			report(studio, out[0], delivery.Undelivered)
			studio.Clock.Advance(time.Second)
			one(studio, taken(studio, sms))
			studio.Clock.Advance(lost)
			settle(studio, nil, one(studio, taken(studio, sms)))
			studio.WantLog(
				"the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "PUSH SENT", "EMAIL SENT", "SMS POSSIBLY_SENT",
				"SMS SENT again",
			)
		},
	})
}

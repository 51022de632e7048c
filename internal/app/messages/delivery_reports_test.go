package messages_test

import (
	"slices"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// taken takes what is due, and gives the messages over one channel. Those of the others are answered for.
func taken(h *messagetest.Studio, c notify.Channel) []messages.Outgoing {
	h.T.Helper()
	h.Plan()
	all, err := h.App.Messages.TakeNotices(h.T.Context(), h.Tenant)
	h.NoError(err)
	others := slices.DeleteFunc(slices.Clone(all.Out), func(o messages.Outgoing) bool { return o.Message.Channel == c })
	settle(h, nil, others...)
	return slices.DeleteFunc(all.Out, func(o messages.Outgoing) bool { return o.Message.Channel != c })
}

// settle writes what a sender gave for messages: an error, or that they were sent.
func settle(h *messagetest.Studio, failed error, sent ...messages.Outgoing) {
	h.T.Helper()
	var attempts []messages.AttemptResult
	for _, o := range sent {
		a := messages.AttemptResult{Outgoing: o, Err: failed}
		if failed == nil {
			a.Receipt = notify.Receipt{ProviderID: "p-" + o.Message.ID.String(), Status: notify.Sent}
		}
		attempts = append(attempts, a)
	}
	h.NoError(h.App.Messages.SettleDeliveries(h.T.Context(), h.Tenant, attempts))
}

// report is what a provider tells of a message later.
func report(h *messagetest.Studio, of messages.Outgoing, status notify.DeliveryStatus) {
	h.T.Helper()
	r := messages.DeliveryReport{Delivery: of.Message.ID, Status: status}
	if status.NotDelivered() {
		r.Err = &notify.SendError{Kind: notify.Permanent, Code: "GONE"}
	}
	h.NoError(h.App.Messages.ReportDelivery(h.T.Context(), h.Tenant, r))
}

// one fails unless there is one message.
func one(h *messagetest.Studio, out []messages.Outgoing) messages.Outgoing {
	h.T.Helper()
	if len(out) != 1 {
		h.T.Fatalf("%d messages, want one", len(out))
	}
	return out[0]
}

// second gives a member another device.
func second(h *messagetest.Studio, who tenant.Caller) {
	h.T.Helper()
	_, err := h.App.Accounts.RegisterDevice(h.T.Context(), who, member.Android, "tablet-of-"+who.Subject)
	h.NoError(err)
}

// lost is longer than an attempt may take of which nobody has written what became of it.
const lost = 3 * time.Minute

// A push to several devices counts once where any of them takes it, also where the one that it is counted with does
// not.
func TestReports_PushIsDeliveredIfAnyDeviceAccepts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refused []int // by their place
		next    string
	}{
		"the first refuses":  {[]int{0}, " DEFERRED FREQUENCY_CAP"},
		"the second refuses": {[]int{1}, " DEFERRED FREQUENCY_CAP"},
		"none refuses":       {nil, " DEFERRED FREQUENCY_CAP"},
		"both refuse":        {[]int{0, 1}, "PUSH SENT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			_, err := h.App.Messages.UpdateNotificationSettings(
				h.T.Context(), h.Owner, nil, func(s *notify.Settings) { s.PerDay[push] = 1 },
			)
			h.NoError(err)
			mia := h.AddReachable("Mia")
			second(h, mia)
			h.MustPlace(mia, h.SessionAt(testkit.Noon.Add(48*time.Hour)))
			out := taken(h, push)
			if len(out) != 2 {
				t.Fatalf("%d messages", len(out))
			}
			var attempts []messages.AttemptResult
			for i, o := range out {
				a := messages.AttemptResult{
					Outgoing: o, Receipt: notify.Receipt{ProviderID: o.Message.ID.String(), Status: notify.Sent},
				}
				if slices.Contains(c.refused, i) {
					a = messages.AttemptResult{Outgoing: o, Err: &notify.SendError{Kind: notify.Permanent, Code: "INVALID_ARGUMENT"}}
				}
				attempts = append(attempts, a)
			}
			h.NoError(h.App.Messages.SettleDeliveries(h.T.Context(), h.Tenant, attempts))
			counted := 1
			if len(c.refused) == len(out) {
				counted = 0
			}
			if n := h.Count(`select count(*) from deliveries where channel = 'PUSH' and counted`); n != counted {
				t.Errorf("%d count, want %d", n, counted)
			}
			settle(h, nil, taken(h, push)...)
			h.Clock.Advance(time.Minute)
			h.MustPlace(mia, h.SessionAt(testkit.Noon.Add(96*time.Hour)))
			settle(h, nil, taken(h, push)...)
			if lines := h.Log(confirmed); !slices.Contains(lines[2:], c.next) {
				t.Errorf("no %q in %q", c.next, lines)
			}
		})
	}
}

// A provider may report before its answer is written down. What the answer says is of the past then.
func TestReports_AreNotUndoneByALaterResponse(t *testing.T) {
	t.Parallel()
	sent := map[string]error{
		"sent": nil, "nobody knows": &notify.SendError{Kind: notify.Unknown},
		"refused": &notify.SendError{Kind: notify.Permanent},
	}
	for name, answer := range sent {
		t.Run("lost before the answer: "+name, func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			h.Promote()
			first := one(h, taken(h, push))
			report(h, first, notify.Undelivered)
			settle(h, answer, first)
			h.Clock.Advance(time.Second)
			settle(h, nil, one(h, taken(h, sms)))
			h.WantLog("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS SENT")
			h.Clock.Advance(lost)
			if out := taken(h, sms); len(out) != 0 {
				t.Errorf("sent again: %+v", out)
			}
		})
		t.Run("the next channel is under way: "+name, func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			h.Promote()
			first := one(h, taken(h, push))
			report(h, first, notify.Undelivered)
			h.Clock.Advance(time.Second)
			second := one(h, taken(h, sms))
			if first.Notice.ID != second.Notice.ID || first.Notice.Attempts != second.Notice.Attempts {
				t.Fatalf("%+v and %+v: the attempts have the same number", first.Notice, second.Notice)
			}
			settle(h, answer, first)
			// That of the second is open still: without it the attempt counts as lost, and is made again.
			h.Clock.Advance(lost)
			again := one(h, taken(h, sms))
			if again.Notice.ID != second.Notice.ID {
				t.Fatalf("%+v", again.Notice)
			}
			settle(h, nil, again)
			h.Clock.Advance(lost)
			if out := taken(h, sms); len(out) != 0 {
				t.Errorf("sent again: %+v", out)
			}
			h.WantLog(
				"the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS POSSIBLY_SENT",
				"SMS SENT again",
			)
		})
	}
	t.Run("the second was sent: the notice stays closed", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.Promote()
		first := one(h, taken(h, push))
		report(h, first, notify.Undelivered)
		h.Clock.Advance(time.Second)
		settle(h, nil, one(h, taken(h, sms)))
		settle(h, &notify.SendError{Kind: notify.Permanent}, first)
		h.Clock.Advance(lost)
		settle(h, nil, taken(h, sms)...)
		h.WantLog("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS SENT")
	})
}

// A node ends while the second channel is asked. What became of the first says nothing of that.
func TestReports_AfterANodeEndsOnTheSecondChannel(t *testing.T) {
	t.Parallel()
	t.Run("more attempts on the first; the second has arrived", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.Promote()
		settle(h, &notify.SendError{Kind: notify.Transient}, one(h, taken(h, push)))
		h.Clock.Advance(10 * time.Minute)
		settle(h, &notify.SendError{Kind: notify.Permanent}, one(h, taken(h, push)))
		h.Clock.Advance(time.Second)
		report(h, one(h, taken(h, sms)), notify.Delivered)
		h.Clock.Advance(lost)
		if out := taken(h, sms); len(out) != 0 {
			t.Errorf("sent again: %+v", out)
		}
		h.WantLog(
			"the log", notify.Promoted, "PUSH FAILED PROVIDER_UNAVAILABLE", "EMAIL SENT", "PUSH FAILED PROVIDER_REFUSED",
			"SMS DELIVERED",
		)
	})
	t.Run("as many attempts on the first, one device of which has it; of the second nobody knows", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		second(h, h.Promote())
		out := taken(h, push)
		if len(out) != 2 {
			t.Fatalf("%d messages", len(out))
		}
		settle(h, nil, out...)
		report(h, out[0], notify.Undelivered)
		h.Clock.Advance(time.Second)
		one(h, taken(h, sms))
		h.Clock.Advance(lost)
		settle(h, nil, one(h, taken(h, sms)))
		h.WantLog(
			"the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "PUSH SENT", "EMAIL SENT", "SMS POSSIBLY_SENT",
			"SMS SENT again",
		)
	})
}

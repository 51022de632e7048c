package worker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// taken takes what is due, and gives the messages over one channel. Those of the others are answered for.
func (h *house) taken(c notify.Channel) []messages.Outgoing {
	h.t.Helper()
	h.consume()
	all, err := h.app.Messages.TakeNotices(h.ctx(), h.Tenant)
	h.ok(err)
	others := slices.DeleteFunc(slices.Clone(all.Out), func(o messages.Outgoing) bool { return o.Message.Channel == c })
	h.settle(nil, others...)
	return slices.DeleteFunc(all.Out, func(o messages.Outgoing) bool { return o.Message.Channel != c })
}

// settle writes what a sender gave for messages: an error, or that they were sent.
func (h *house) settle(failed error, sent ...messages.Outgoing) {
	h.t.Helper()
	var attempts []messages.AttemptResult
	for _, o := range sent {
		a := messages.AttemptResult{Outgoing: o, Err: failed}
		if failed == nil {
			a.Receipt = notify.Receipt{ProviderID: "p-" + o.Message.ID.String(), Status: notify.Sent}
		}
		attempts = append(attempts, a)
	}
	h.ok(h.app.Messages.SettleDeliveries(h.ctx(), h.Tenant, attempts))
}

// report is what a provider tells of a message later.
func (h *house) report(of messages.Outgoing, status notify.DeliveryStatus) {
	h.t.Helper()
	r := messages.DeliveryReport{Delivery: of.Message.ID, Status: status}
	if status.NotDelivered() {
		r.Err = &notify.SendError{Kind: notify.Permanent, Code: "GONE"}
	}
	h.ok(h.app.Messages.ReportDelivery(h.ctx(), h.Tenant, r))
}

// later lets time go by.
func (h *house) later(d time.Duration) { h.clock.Set(h.clock.Now().Add(d)) }

// one fails unless there is one message.
func (h *house) one(out []messages.Outgoing) messages.Outgoing {
	h.t.Helper()
	if len(out) != 1 {
		h.t.Fatalf("%d messages, want one", len(out))
	}
	return out[0]
}

// second gives a member another device.
func (h *house) second(who tenant.Caller) {
	h.t.Helper()
	_, err := h.app.Accounts.RegisterDevice(h.ctx(), who, member.Android, "tablet-of-"+who.Subject)
	h.ok(err)
}

// lost is longer than an attempt may take of which nobody has written what became of it.
const lost = 3 * time.Minute

// A push to several devices counts once where any of them takes it, also where the one that it is counted with does not.
func TestAPushCountsWhereAnyDeviceTakesIt(t *testing.T) {
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
			h := newHouse(t)
			_, err := h.app.Messages.UpdateNotificationSettings(h.ctx(), h.Owner, nil, func(s *notify.Settings) { s.PerDay[push] = 1 })
			h.ok(err)
			mia := h.member("Mia")
			h.second(mia)
			h.book(mia, h.session(noon.Add(48*time.Hour)))
			out := h.taken(push)
			if len(out) != 2 {
				t.Fatalf("%d messages", len(out))
			}
			var attempts []messages.AttemptResult
			for i, o := range out {
				a := messages.AttemptResult{Outgoing: o, Receipt: notify.Receipt{ProviderID: o.Message.ID.String(), Status: notify.Sent}}
				if slices.Contains(c.refused, i) {
					a = messages.AttemptResult{Outgoing: o, Err: &notify.SendError{Kind: notify.Permanent, Code: "INVALID_ARGUMENT"}}
				}
				attempts = append(attempts, a)
			}
			h.ok(h.app.Messages.SettleDeliveries(h.ctx(), h.Tenant, attempts))
			counted := 1
			if len(c.refused) == len(out) {
				counted = 0
			}
			if n := h.count(`select count(*) from deliveries where channel = 'PUSH' and counted`); n != counted {
				t.Errorf("%d count, want %d", n, counted)
			}
			h.settle(nil, h.taken(push)...)
			h.later(time.Minute)
			h.book(mia, h.session(noon.Add(96*time.Hour)))
			h.settle(nil, h.taken(push)...)
			if lines := h.lines(confirmed); !slices.Contains(lines[2:], c.next) {
				t.Errorf("no %q in %q", c.next, lines)
			}
		})
	}
}

// A provider may report before its answer is written down. What the answer says is of the past then.
func TestAnAnswerDoesNotUndoAReport(t *testing.T) {
	t.Parallel()
	sent := map[string]error{"sent": nil, "nobody knows": &notify.SendError{Kind: notify.Unknown}, "refused": &notify.SendError{Kind: notify.Permanent}}
	for name, answer := range sent {
		t.Run("lost before the answer: "+name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.promoted()
			first := h.one(h.taken(push))
			h.report(first, notify.Undelivered)
			h.settle(answer, first)
			h.later(time.Second)
			h.settle(nil, h.one(h.taken(sms)))
			h.wantLines("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS SENT")
			h.later(lost)
			if out := h.taken(sms); len(out) != 0 {
				t.Errorf("sent again: %+v", out)
			}
		})
		t.Run("the next channel is under way: "+name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.promoted()
			first := h.one(h.taken(push))
			h.report(first, notify.Undelivered)
			h.later(time.Second)
			second := h.one(h.taken(sms))
			if first.Notice.ID != second.Notice.ID || first.Notice.Attempts != second.Notice.Attempts {
				t.Fatalf("%+v and %+v: the attempts have the same number", first.Notice, second.Notice)
			}
			h.settle(answer, first)
			// That of the second is open still: without it the attempt counts as lost, and is made again.
			h.later(lost)
			again := h.one(h.taken(sms))
			if again.Notice.ID != second.Notice.ID {
				t.Fatalf("%+v", again.Notice)
			}
			h.settle(nil, again)
			h.later(lost)
			if out := h.taken(sms); len(out) != 0 {
				t.Errorf("sent again: %+v", out)
			}
			h.wantLines("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS POSSIBLY_SENT", "SMS SENT again")
		})
	}
	t.Run("the second was sent: the notice stays closed", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.promoted()
		first := h.one(h.taken(push))
		h.report(first, notify.Undelivered)
		h.later(time.Second)
		h.settle(nil, h.one(h.taken(sms)))
		h.settle(&notify.SendError{Kind: notify.Permanent}, first)
		h.later(lost)
		h.settle(nil, h.taken(sms)...)
		h.wantLines("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT", "SMS SENT")
	})
}

// A node ends while the second channel is asked. What became of the first says nothing of that.
func TestANodeThatEndsOnTheSecondChannel(t *testing.T) {
	t.Parallel()
	t.Run("more attempts on the first; the second has arrived", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.promoted()
		h.settle(&notify.SendError{Kind: notify.Transient}, h.one(h.taken(push)))
		h.later(10 * time.Minute)
		h.settle(&notify.SendError{Kind: notify.Permanent}, h.one(h.taken(push)))
		h.later(time.Second)
		h.report(h.one(h.taken(sms)), notify.Delivered)
		h.later(lost)
		if out := h.taken(sms); len(out) != 0 {
			t.Errorf("sent again: %+v", out)
		}
		h.wantLines("the log", notify.Promoted, "PUSH FAILED PROVIDER_UNAVAILABLE", "EMAIL SENT", "PUSH FAILED PROVIDER_REFUSED", "SMS DELIVERED")
	})
	t.Run("as many attempts on the first, one device of which has it; of the second nobody knows", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.second(h.promoted())
		out := h.taken(push)
		if len(out) != 2 {
			t.Fatalf("%d messages", len(out))
		}
		h.settle(nil, out...)
		h.report(out[0], notify.Undelivered)
		h.later(time.Second)
		h.one(h.taken(sms))
		h.later(lost)
		h.settle(nil, h.one(h.taken(sms)))
		h.wantLines("the log", notify.Promoted, "PUSH UNDELIVERED PROVIDER_REFUSED", "PUSH SENT", "EMAIL SENT", "SMS POSSIBLY_SENT", "SMS SENT again")
	})
}

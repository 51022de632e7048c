package worker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// lines gives the delivery log, the oldest first, as "CHANNEL STATUS REASON".
func (h *house) lines(topic notify.Topic) []string {
	h.t.Helper()
	log, err := h.app.Messages.ListDeliveries(h.ctx(), h.Owner, messages.DeliveryQuery{Topic: topic, Limit: 500})
	h.ok(err)
	var all []string
	for _, d := range slices.Backward(log) {
		line := string(d.Channel) + " " + string(d.Status)
		if d.Reason != "" && string(d.Reason) != string(d.Status) {
			line += " " + string(d.Reason)
		}
		if d.PossibleDuplicate {
			line += " again"
		}
		all = append(all, line)
	}
	return all
}

func (h *house) wantLines(what string, topic notify.Topic, want ...string) {
	h.t.Helper()
	if diff := cmp.Diff(want, h.lines(topic)); diff != "" {
		h.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// promoted sets a promotion up, which goes by mail, and by push, else SMS.
func (h *house) promoted() tenant.Caller {
	h.t.Helper()
	mia, noa := h.member(fmt.Sprint("Mia", h.serial)), h.member(fmt.Sprint("Noa", h.serial))
	class := h.session(noon.Add(48*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
	first := h.book(mia, class).Booking.ID
	h.book(noa, class)
	h.run()
	_, err := h.app.Bookings.CancelBooking(h.ctx(), mia, bookings.CancelRequest{ID: first})
	h.ok(err)
	return noa
}

func TestWhatOneChannelCannotTheNextDoes(t *testing.T) {
	t.Parallel()
	t.Run("a device that is gone is forgotten, and SMS goes out", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.promoted()
		h.post.failing(push, &notify.SendError{Kind: notify.Unregistered, Code: "UNREGISTERED"})
		h.run()
		h.at(noon.Add(time.Second))
		h.wantLines("the log", notify.Promoted, "PUSH FAILED UNREGISTERED", "EMAIL SENT", "SMS SENT")
		if n := h.count(`select count(*) from devices`); n != 1 {
			t.Errorf("%d devices", n)
		}
	})
	t.Run("a number that said stop is not written to again", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		noa := h.promoted()
		devices(h, noa)
		h.post.failing(sms, &notify.SendError{Kind: notify.OptedOut, Code: "21610"})
		h.run()
		h.at(noon.Add(time.Second))
		h.wantLines("the log", notify.Promoted, "SMS FAILED OPTED_OUT", "EMAIL SENT", " DROPPED OPTED_OUT")
		p, err := h.app.Messages.GetNotificationPreferences(h.ctx(), noa, tenant.MemberID{})
		h.ok(err)
		if len(p.Stops) != 1 || p.Stops[0].Reason != notify.OptedOutReason {
			t.Errorf("%+v", p.Stops)
		}
		_, err = h.app.Messages.AnswerSMS(h.ctx(), h.Tenant, h.phone(noa), "START")
		h.ok(err)
		if p, err = h.app.Messages.GetNotificationPreferences(h.ctx(), noa, tenant.MemberID{}); err != nil || len(p.Stops) != 0 {
			t.Errorf("%+v, %v", p.Stops, err)
		}
	})
	t.Run("a busy provider is tried again, and then left", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.promoted()
		h.post.failing(push, &notify.SendError{Kind: notify.Transient, Code: "UNAVAILABLE"})
		for range 80 {
			h.run()
			h.clock.Set(h.clock.Now().Add(30 * time.Second))
		}
		lines := h.lines(notify.Promoted)
		want := []string{"EMAIL SENT", "PUSH FAILED PROVIDER_UNAVAILABLE", "SMS SENT"}
		counts := map[string]int{}
		for _, l := range lines {
			counts[l]++
		}
		if counts[want[0]] != 1 || counts[want[1]] != 6 || counts[want[2]] != 1 || len(lines) != 8 {
			t.Errorf("%v", counts)
		}
	})
	t.Run("without an answer nobody knows: it is sent again, and said so", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.book(h.member("Mia"), h.session(noon.Add(48*time.Hour)))
		h.post.failing(email, &notify.SendError{Kind: notify.Unknown})
		h.run()
		h.at(noon.Add(59 * time.Second))
		h.post.failing(email, nil)
		h.at(noon.Add(time.Minute))
		h.wantLines("the log", notify.BookingConfirmed, "PUSH SENT", "EMAIL POSSIBLY_SENT", "EMAIL SENT again")
	})
	t.Run("a report settles what the answer did not", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		noa := h.promoted()
		devices(h, noa)
		h.post.failing(sms, &notify.SendError{Kind: notify.Unknown})
		h.consume()
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		var id tenant.DeliveryID
		for _, m := range h.post.take() {
			if m.Channel == sms {
				id = m.ID
			}
		}
		for _, status := range []notify.DeliveryStatus{notify.Delivered, notify.Sent, notify.Delivered, notify.Queued} {
			h.ok(h.app.Messages.ReportDelivery(h.ctx(), h.Tenant, messages.DeliveryReport{Delivery: id, ProviderID: "SM1", Status: status}))
		}
		h.at(noon.Add(time.Hour))
		h.wantLines("the log", notify.Promoted, "SMS DELIVERED", "EMAIL SENT")
	})
	t.Run("what the carrier does not deliver goes another way", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.book(h.member("Mia"), h.session(noon.Add(48*time.Hour)))
		h.run()
		h.consume()
		h.clock.Set(noon.Add(24 * time.Hour))
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		sent := h.post.take()
		h.ok(h.app.Messages.ReportDelivery(h.ctx(), h.Tenant, messages.DeliveryReport{Delivery: sent[0].ID, Status: notify.Undelivered, Err: &notify.SendError{Kind: notify.Permanent}}))
		h.ok(h.app.Messages.ReportDelivery(h.ctx(), h.Tenant, messages.DeliveryReport{Delivery: sent[0].ID, Status: notify.Undelivered, Err: &notify.SendError{Kind: notify.Permanent}}))
		h.at(h.clock.Now().Add(time.Second))
		h.wantLines("the log", notify.Reminder, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT")
	})
}

// devices leaves a member without any.
func devices(h *house, who tenant.Caller) {
	h.t.Helper()
	me, err := h.app.Accounts.GetMe(h.ctx(), who)
	h.ok(err)
	for _, d := range me.Devices {
		h.ok(h.app.Accounts.UnregisterDevice(h.ctx(), who, d.ID))
	}
}

func (h *house) phone(who tenant.Caller) string {
	h.t.Helper()
	me, err := h.app.Accounts.GetMe(h.ctx(), who)
	h.ok(err)
	return me.Member.Phone
}

// A provider that is down is not asked for each message.
func TestABreakerSparesAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class := h.session(noon.Add(48*time.Hour), func(in *session.Input) { in.Capacity = new(40) })
	for range 40 {
		h.book(h.member("Mia"+string(rune('a'+h.serial%26))+string(rune('a'+h.serial/26))), class)
	}
	h.post.failing(push, &notify.SendError{Kind: notify.Transient})
	h.consume()
	h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
	asked := 0
	for _, m := range h.post.take() {
		if m.Channel == push {
			asked++
		}
	}
	if asked >= 40 || asked < 5 {
		t.Errorf("asked %d times", asked)
	}
	if n := h.count(`select count(*) from deliveries where error_code = 'BREAKER_OPEN'`); n != 40-asked {
		t.Errorf("%d were spared, %d asked", n, asked)
	}
	h.post.failing(push, nil)
	for range 20 {
		h.clock.Set(h.clock.Now().Add(30 * time.Second))
		h.run()
	}
	if n := h.count(`select count(distinct recipient) from deliveries where topic = 'BOOKING_CONFIRMED' and channel = 'PUSH' and status = 'SENT'`); n != 40 {
		t.Errorf("%d of 40 were told in the end", n)
	}
}

// A worker that dies between the lines: before it sent, after it sent, before it wrote down what became of it. Nothing is lost, and what may
// have been sent twice is told.
func TestAWorkerThatDies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 7))
		h := newHouse(t)
		class := h.session(noon.Add(200*time.Hour), func(in *session.Input) { in.Capacity = new(12) })
		for i := range 12 {
			h.book(h.member("Mia"+string(rune('a'+i))), class)
		}
		h.consume()
		sent := make(map[tenant.NoticeID]int)
		for range 40 {
			taken, err := h.app.Messages.TakeNotices(h.ctx(), h.Tenant)
			h.ok(err)
			var attempts []messages.AttemptResult
			dies := random.IntN(3) == 0
			reach := random.IntN(len(taken.Out) + 1)
			for i, o := range taken.Out {
				if dies && i >= reach {
					break
				}
				sent[o.Notice.ID]++
				attempts = append(attempts, messages.AttemptResult{Outgoing: o, Receipt: notify.Receipt{ProviderID: o.Message.ID.String(), Status: notify.Sent}})
			}
			if !dies {
				h.ok(h.app.Messages.SettleDeliveries(h.ctx(), h.Tenant, attempts))
			}
			h.clock.Set(h.clock.Now().Add(3 * time.Minute))
		}
		if n := h.count(`select count(*) from notices where done_at is null and due_at <= $1`, h.clock.Now()); n != 0 {
			t.Fatalf("seed %d: %d notices are left", seed, n)
		}
		if len(sent) != 24 { // a mail and a push for each
			t.Errorf("seed %d: %d of 24 messages were sent", seed, len(sent))
		}
		for id, times := range sent {
			told := h.count(`select count(*) from deliveries where notice_id = $1 and possible_duplicate`, id)
			if times > 1 && told < times-1 {
				t.Errorf("seed %d: sent %d times, %d of them told", seed, times, told)
			}
		}
	}
}

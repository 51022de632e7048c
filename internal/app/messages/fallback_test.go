package messages_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

func TestFallback_UsesTheNextChannel(t *testing.T) {
	t.Parallel()
	t.Run("a device that is gone is forgotten, and SMS goes out", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.Promote()
		h.Provider.Fail(push, &notify.SendError{Kind: notify.Unregistered, Code: "UNREGISTERED"})
		h.Run()
		h.RunAt(testkit.Noon.Add(time.Second))
		h.WantLog("the log", notify.Promoted, "PUSH FAILED UNREGISTERED", "EMAIL SENT", "SMS SENT")
		if n := h.Count(`select count(*) from devices`); n != 1 {
			t.Errorf("%d devices", n)
		}
	})
	t.Run("a number that said stop is not written to again", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		noa := h.Promote()
		h.RemoveDevices(noa)
		h.Provider.Fail(sms, &notify.SendError{Kind: notify.OptedOut, Code: "21610"})
		h.Run()
		h.RunAt(testkit.Noon.Add(time.Second))
		h.WantLog("the log", notify.Promoted, "SMS FAILED OPTED_OUT", "EMAIL SENT", " DROPPED OPTED_OUT")
		p, err := h.App.Messages.GetNotificationPreferences(h.T.Context(), noa, tenant.MemberID{})
		h.NoError(err)
		if len(p.Stops) != 1 || p.Stops[0].Reason != notify.OptedOutReason {
			t.Errorf("%+v", p.Stops)
		}
		_, err = h.App.Messages.AnswerSMS(h.T.Context(), h.Tenant, h.PhoneOf(noa), "START")
		h.NoError(err)
		if p, err = h.App.Messages.GetNotificationPreferences(h.T.Context(), noa, tenant.MemberID{}); err != nil ||
			len(p.Stops) != 0 {
			t.Errorf("%+v, %v", p.Stops, err)
		}
	})
	t.Run("a busy provider is tried again, and then left", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.Promote()
		h.Provider.Fail(push, &notify.SendError{Kind: notify.Transient, Code: "UNAVAILABLE"})
		for range 80 {
			h.Run()
			h.Clock.Set(h.Clock.Now().Add(30 * time.Second))
		}
		lines := h.Log(notify.Promoted)
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
		h := messagetest.New(t)
		h.MustPlace(h.AddReachable("Mia"), h.SessionAt(testkit.Noon.Add(48*time.Hour)))
		h.Provider.Fail(email, &notify.SendError{Kind: notify.Unknown})
		h.Run()
		h.RunAt(testkit.Noon.Add(59 * time.Second))
		h.Provider.Fail(email, nil)
		h.RunAt(testkit.Noon.Add(time.Minute))
		h.WantLog("the log", notify.BookingConfirmed, "PUSH SENT", "EMAIL POSSIBLY_SENT", "EMAIL SENT again")
	})
	t.Run("a report settles what the answer did not", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		noa := h.Promote()
		h.RemoveDevices(noa)
		h.Provider.Fail(sms, &notify.SendError{Kind: notify.Unknown})
		h.Plan()
		h.Send()
		var id tenant.DeliveryID
		for _, m := range h.Provider.Take() {
			if m.Channel == sms {
				id = m.ID
			}
		}
		for _, status := range []notify.DeliveryStatus{notify.Delivered, notify.Sent, notify.Delivered, notify.Queued} {
			h.NoError(
				h.App.Messages.ReportDelivery(
					h.T.Context(), h.Tenant, messages.DeliveryReport{Delivery: id, ProviderID: "SM1", Status: status},
				),
			)
		}
		h.RunAt(testkit.Noon.Add(time.Hour))
		h.WantLog("the log", notify.Promoted, "SMS DELIVERED", "EMAIL SENT")
	})
	t.Run("what the carrier does not deliver goes another way", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MustPlace(h.AddReachable("Mia"), h.SessionAt(testkit.Noon.Add(48*time.Hour)))
		h.Run()
		h.Plan()
		h.Clock.Set(testkit.Noon.Add(24 * time.Hour))
		h.Send()
		sent := h.Provider.Take()
		h.NoError(
			h.App.Messages.ReportDelivery(
				h.T.Context(), h.Tenant,
				messages.DeliveryReport{
					Delivery: sent[0].ID, Status: notify.Undelivered, Err: &notify.SendError{Kind: notify.Permanent},
				},
			),
		)
		h.NoError(
			h.App.Messages.ReportDelivery(
				h.T.Context(), h.Tenant,
				messages.DeliveryReport{
					Delivery: sent[0].ID, Status: notify.Undelivered, Err: &notify.SendError{Kind: notify.Permanent},
				},
			),
		)
		h.RunAt(h.Clock.Now().Add(time.Second))
		h.WantLog("the log", notify.Reminder, "PUSH UNDELIVERED PROVIDER_REFUSED", "EMAIL SENT")
	})
}

// A worker that dies between the lines: before it sent, after it sent, before it wrote down what became of it. Nothing
// is lost, and what may have been sent twice is told.
func TestFallback_AfterAWorkerDies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 7))
		h := messagetest.New(t)
		class := h.SessionAt(testkit.Noon.Add(200*time.Hour), func(in *session.Input) { in.Capacity = new(12) })
		for i := range 12 {
			h.MustPlace(h.AddReachable("Mia"+string(rune('a'+i))), class)
		}
		h.Plan()
		sent := make(map[tenant.NoticeID]int)
		for range 40 {
			taken, err := h.App.Messages.TakeNotices(h.T.Context(), h.Tenant)
			h.NoError(err)
			var attempts []messages.AttemptResult
			dies := random.IntN(3) == 0
			reach := random.IntN(len(taken.Out) + 1)
			for i, o := range taken.Out {
				if dies && i >= reach {
					break
				}
				sent[o.Notice.ID]++
				attempts = append(
					attempts,
					messages.AttemptResult{
						Outgoing: o, Receipt: notify.Receipt{ProviderID: o.Message.ID.String(), Status: notify.Sent},
					},
				)
			}
			if !dies {
				h.NoError(h.App.Messages.SettleDeliveries(h.T.Context(), h.Tenant, attempts))
			}
			h.Clock.Set(h.Clock.Now().Add(3 * time.Minute))
		}
		if n := h.Count(`select count(*) from notices where done_at is null and due_at <= $1`, h.Clock.Now()); n != 0 {
			t.Fatalf("seed %d: %d notices are left", seed, n)
		}
		if len(sent) != 24 { // a mail and a push for each
			t.Errorf("seed %d: %d of 24 messages were sent", seed, len(sent))
		}
		for id, times := range sent {
			told := h.Count(`select count(*) from deliveries where notice_id = $1 and possible_duplicate`, id)
			if times > 1 && told < times-1 {
				t.Errorf("seed %d: sent %d times, %d of them told", seed, times, told)
			}
		}
	}
}

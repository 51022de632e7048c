package messages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	wait "github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// freed creates a studio in which the waitlist has just offered a seat to Noa, and Pia is next.
func freed(
	t *testing.T, at time.Time, rules func(*wait.Settings),
) (h *messagetest.Studio, class tenant.SessionID, noa tenant.Caller) {
	t.Helper()
	h = messagetest.New(t, func(_ *worker.Config, ac *app.Config) {
		claims, err := wait.NewClaimKey([]byte("a key for tests that is 32 bytes"))
		if err != nil {
			t.Fatal(err)
		}
		ac.Claims = claims
	})
	_, err := h.App.Settings.UpdateRules(h.T.Context(), h.Owner, settings.RulesEdit{Edit: func(s *wait.Settings) {
		if s.Mode = new(wait.OfferInTurn); rules != nil {
			rules(s)
		}
	}})
	h.NoError(err)
	mia, pia := h.AddReachable("Mia"), h.AddReachable("Pia")
	noa = h.AddReachable("Noa")
	class = h.SessionAt(testkit.Noon.Add(48*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
	held := h.MustPlace(mia, class).Booking.ID
	h.MustPlace(noa, class)
	h.Clock.Set(testkit.Noon.Add(time.Second))
	h.MustPlace(pia, class)
	h.Run()
	h.Clock.Set(at)
	_, err = h.App.Bookings.CancelBooking(h.T.Context(), h.Owner, bookings.CancelRequest{ID: held})
	h.NoError(err)
	return h, class, noa
}

// The offer of a freed seat is told at once, with the way to answer it, and once more before it ends. Then the next is
// told.
func TestOffers_AreSent(t *testing.T) {
	t.Parallel()
	h, class, _ := freed(t, testkit.Noon.Add(time.Minute), nil)
	want := func(what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	o := h.Offers(class)[0]
	link := h.App.Waitlists.ClaimURL(h.Tenant, o.ID)
	h.Plan()
	h.Send()
	sent := h.Provider.Take()
	if len(sent) != 2 {
		t.Fatalf("%d messages", len(sent))
	}
	for _, m := range sent {
		if m.Channel == notify.Email && (!strings.Contains(m.Text, link) || !strings.Contains(m.Text, "13:31")) {
			t.Errorf("%+v, want %s in it", m, link)
		}
		if m.Channel == notify.Push && m.Link != link {
			t.Errorf("it leads to %s, want %s", m.Link, link)
		}
		// By these an app opens the offer.
		want := map[string]string{
			"topic": "OFFER", "offer_id": o.ID.String(), "entry_id": o.Entry.String(), "session_id": class.String(),
		}
		if diff := cmp.Diff(want, m.Data); diff != "" || !m.HighPriority {
			t.Errorf("%s, at once %t (-want +got):\n%s", m.Channel, m.HighPriority, diff)
		}
	}
	want("a second look", h.Run())
	want("before the last quarter", h.RunAt(o.ExpiresAt.Add(-8*time.Minute)))
	want("in the last quarter", h.RunAt(o.ExpiresAt.Add(-7*time.Minute)), "OFFER_EXPIRING PUSH")
	h.Clock.Set(o.ExpiresAt)
	_, _, err := h.App.Waitlists.ExpireDueOffers(h.T.Context(), h.Tenant)
	h.NoError(err)
	want("at its end", h.Run(), "OFFER EMAIL", "OFFER PUSH")
	if all := h.Offers(class); len(all) != 2 || all[1].Status != wait.Live {
		t.Errorf("%+v", all)
	}
}

// Offers and messages sleep at the same hours, as long as nobody says otherwise: who is offered a seat in the evening
// is told in the morning, and has the whole window then.
func TestOffers_OfTheEveningAreSentInTheMorning(t *testing.T) {
	t.Parallel()
	// 21:10 and 08:00 in Berlin
	evening, morning := testkit.Noon.Add(8*time.Hour+10*time.Minute), testkit.Noon.Add(19*time.Hour)
	h, class, _ := freed(t, evening, nil)
	if sent := h.Run(); len(sent) > 0 {
		t.Errorf("at night: %v", sent)
	}
	o := h.Offers(class)[0]
	if o.Status != wait.Live || !o.ExpiresAt.Equal(morning.Add(30*time.Minute)) {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff([]string{"OFFER EMAIL", "OFFER PUSH"}, h.RunAt(morning)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"OFFER_EXPIRING PUSH"}, h.RunAt(morning.Add(23*time.Minute))); diff != "" {
		t.Error(diff)
	}
}

// An SMS is answered with the offer's code, and books. Rules may keep SMS for those of a higher score.
func TestOffers_AreAnsweredBySMS(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"everybody": 0, "as good as it takes": 100, "not good enough": 101} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, class, noa := freed(t, testkit.Noon.Add(time.Minute), func(s *wait.Settings) { s.SMSMinScore = &least })
			h.RemoveDevices(noa)
			o := h.Offers(class)[0]
			h.Plan()
			h.Send()
			sent := h.Provider.Take()
			at := slices.IndexFunc(sent, func(m notify.Message) bool { return m.Channel == sms })
			if least > o.Score {
				if at >= 0 {
					t.Errorf("%+v", sent[at])
				}
				return
			}
			if at < 0 || !strings.Contains(sent[at].Text, "1 "+o.Code) {
				t.Fatalf("%+v, want %s", sent, o.Code)
			}
			answer, err := h.App.Messages.AnswerSMS(h.T.Context(), h.Tenant, h.PhoneOf(noa), "1 "+o.Code)
			if err != nil || !strings.Contains(answer, "Booked") {
				t.Errorf("%q, %v", answer, err)
			}
			if got := h.Offers(class)[0]; got.Status != wait.Accepted {
				t.Errorf("the offer is %s", got.Status)
			}
		})
	}
}

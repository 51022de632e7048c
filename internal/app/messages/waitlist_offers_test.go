package messages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/session"
	wait "github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// freed creates a studio in which the waitlist has just offered a seat to Noa, and Pia is next.
func freed(
	t *testing.T, at time.Time, rules func(*wait.Settings),
) (studio *messagetest.Studio, class tenant.SessionID, noa tenant.Caller) {
	t.Helper()
	studio = messagetest.New(t, func(_ *worker.Config, ac *app.Config) {
		ac.Claims = expect.Value(wait.NewClaimKey([]byte("a key for tests that is 32 bytes")))(t)
	})
	expect.OK(studio.T)(studio.App.Settings.UpdateWaitlistRules(studio.T.Context(), studio.Owner,
		settings.RulesEdit{Edit: func(s *wait.Settings) {
			if s.Mode = new(wait.OfferInTurn); rules != nil {
				rules(s)
			}
		}}))
	mia, pia := studio.AddReachable("Mia"), studio.AddReachable("Pia")
	noa = studio.AddReachable("Noa")
	class = studio.SessionAt(testkit.Noon.Add(48*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
	held := studio.MustPlace(mia, class).Booking.ID
	studio.MustPlace(noa, class)
	studio.Clock.Set(testkit.Noon.Add(time.Second))
	studio.MustPlace(pia, class)
	studio.Run()
	studio.Clock.Set(at)
	expect.OK(studio.T)(
		studio.App.Bookings.CancelBooking(studio.T.Context(), studio.Owner, bookings.CancelRequest{
			ID: held, OverrideWindow: true,
		}),
	)
	return studio, class, noa
}

// The offer of a freed seat is told at once, with the way to answer it, and once more before it ends. Then the next is
// told.
func TestOffers_AreSent(t *testing.T) {
	t.Parallel()
	studio, class, _ := freed(t, testkit.Noon.Add(time.Minute), nil)
	want := func(what string, got []string, want ...string) {
		t.Helper()
		test.Eq(t, want, got, test.Sprint(what))
	}
	o := studio.Offers(class)[0]
	link := studio.App.Waitlists.ClaimURL(studio.Tenant, o.ID)
	studio.Plan()
	studio.Send()
	sent := studio.Provider.Take()
	must.EqOp(t, 2, len(sent), must.Sprintf("%d messages", len(sent)))
	for _, m := range sent {
		test.False(
			t, m.Channel == delivery.Email && (!strings.Contains(m.Text, link) || !strings.Contains(m.Text, "13:31")),
			test.Sprintf("%+v, want %s in it", m, link),
		)
		test.False(t, m.Channel == delivery.Push && m.Link != link, test.Sprintf("it leads to %s, want %s", m.Link, link))
		// By these an app opens the offer.
		want := map[string]string{
			"topic": "OFFER", "offer_id": o.ID.String(), "entry_id": o.Entry.String(), "session_id": class.String(),
		}
		diff := cmp.Diff(want, m.Data)
		test.EqOp(t, "", diff, test.Sprintf("%s, at once %t (-want +got):\n%s", m.Channel, m.HighPriority, diff))
		test.True(t, m.HighPriority, test.Sprintf("%s, at once %t (-want +got):\n%s", m.Channel, m.HighPriority, diff))
	}
	want("a second look", studio.Run())
	want("before the last quarter", studio.RunAt(o.ExpiresAt.Add(-8*time.Minute)))
	want("in the last quarter", studio.RunAt(o.ExpiresAt.Add(-7*time.Minute)), "OFFER_EXPIRING PUSH")
	studio.Clock.Set(o.ExpiresAt)
	expect.OK(studio.T)(studio.App.Waitlists.ExpireDueOffers(studio.T.Context(), studio.Tenant))
	want("at its end", studio.Run(), "OFFER EMAIL", "OFFER PUSH")
	all := studio.Offers(class)
	must.SliceLen(t, 2, all)
	test.EqOp(t, wait.Live, all[1].Status)
}

// By default offers and messages have the same quiet hours: an offer made in the evening is sent in the morning, and
// has its whole window then.
func TestOffers_OfTheEveningAreSentInTheMorning(t *testing.T) {
	t.Parallel()
	// 21:10 and 08:00 in Berlin
	evening, morning := testkit.Noon.Add(8*time.Hour+10*time.Minute), testkit.Noon.Add(19*time.Hour)
	studio, class, noa := freed(t, evening, nil)
	studio.Prefer(noa, noMailOfOffers)
	sent := studio.Run()
	test.True(t, len(sent) == 0, test.Sprintf("at night: %v", sent))
	o := studio.Offers(class)[0]
	test.EqOp(t, wait.Live, o.Status)
	test.True(t, o.ExpiresAt.Equal(morning.Add(30*time.Minute)), test.Sprintf("%+v", o))
	test.Eq(t, []string{"OFFER PUSH"}, studio.RunAt(morning))
	test.Eq(t, []string{"OFFER_EXPIRING PUSH"}, studio.RunAt(morning.Add(23*time.Minute)))
}

// An SMS is answered with the offer's code, and books. Rules may keep SMS for those of a higher score.
func TestOffers_AreAnsweredBySMS(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"all scores": 0, "as good as it takes": 100, "not good enough": 101} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio, class, noa := freed(t, testkit.Noon.Add(time.Minute), func(s *wait.Settings) { s.SMSMinScore = &least })
			studio.RemoveDevices(noa)
			o := studio.Offers(class)[0]
			studio.Plan()
			studio.Send()
			sent := studio.Provider.Take()
			at := slices.IndexFunc(sent, func(m delivery.Message) bool { return m.Channel == sms })
			if least > o.Score {
				test.EqOp(t, -1, at, test.Sprintf("%+v", sent))
				return
			}
			must.GreaterEq(t, 0, at, must.Sprintf("%+v, want %s", sent, studio.CodeOf(o)))
			must.StrContains(t, sent[at].Text, "1 "+studio.CodeOf(o), must.Sprintf("%+v, want %s", sent, studio.CodeOf(o)))
			answer := expect.Value(
				studio.App.Messages.AnswerSMS(studio.T.Context(), studio.Tenant, studio.PhoneOf(noa), "1 "+studio.CodeOf(o)),
			)(t)
			test.True(t, strings.Contains(answer, "Booked"), test.Sprintf("%q", answer))
			test.EqOp(t, wait.Accepted, studio.Offers(class)[0].Status, test.Sprint("the offer"))
		})
	}
}

package messages_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/session"
	wait "github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// promoted promotes Noa with automatic booking over the defaults of a new tenant, and returns her booking.
func promoted(studio *messagetest.Studio, starts time.Time, late bool) (noa tenant.Caller, id tenant.BookingID) {
	studio.T.Helper()
	studio.SetRules(func(s *wait.Settings) {
		s.Mode, s.OffersInQuietHours, s.PromoteAfterCancellationWindow = new(wait.AutoPromote), nil, &late
	})
	mia := studio.AddReachable("Mia")
	noa = studio.AddReachable("Noa")
	class := studio.SessionAt(starts, func(in *session.Input) { in.Capacity = new(1) })
	first := studio.MustPlace(mia, class).Booking.ID
	studio.MustPlace(noa, class)
	studio.Run()
	expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
		studio.T.Context(), studio.Owner, bookings.CancelRequest{ID: first, OverrideWindow: true},
	))
	list := expect.Value(studio.App.Bookings.ListBookings(
		studio.T.Context(), testkit.SelfOnly(noa), bookings.BookingQuery{Limit: 10},
	))(studio.T).Bookings
	must.SliceLen(studio.T, 1, list)
	return noa, list[0].ID
}

// told runs the worker and returns the texts of its messages that have a part.
func told(studio *messagetest.Studio, part string) (texts []string) {
	studio.T.Helper()
	studio.Plan()
	studio.Send()
	for _, m := range studio.Provider.Take() {
		if strings.Contains(m.Text, part) {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// Noon is 13:00 in Berlin, and the cancellation window a day.
func TestPromotion_StatesUntilWhenItCanBeCancelled(t *testing.T) {
	t.Parallel()
	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"three days ahead": func(studio *messagetest.Studio) {
			promoted(studio, testkit.Noon.Add(72*time.Hour), false)
			test.SliceLen(studio.T, 2, told(studio, "Wed 18 Mar, 13:00"), test.Sprint("a push and a mail"))
		},
		"late, the grace starts when the member is told": func(studio *messagetest.Studio) {
			noa, id := promoted(studio, testkit.Noon.Add(5*time.Hour), true)
			studio.Clock.Set(testkit.Noon.Add(20 * time.Minute))
			test.SliceLen(studio.T, 2, told(studio, "14:20"))
			studio.Clock.Set(testkit.Noon.Add(80*time.Minute + time.Second))
			expect.Reason(studio.T, fault.CancellationWindow)(studio.Cancel(noa, id))
			studio.Clock.Set(testkit.Noon.Add(80 * time.Minute))
			test.False(studio.T, expect.Value(studio.Cancel(noa, id))(studio.T).Late)
		},
		"if a channel fails, it starts again with the next": func(studio *messagetest.Studio) {
			noa, id := promoted(studio, testkit.Noon.Add(5*time.Hour), true)
			studio.EditMember(noa, func(m *memberValue) { m.Email = "" })
			studio.Provider.Fail(push, &delivery.Error{Kind: delivery.Permanent, Code: "UNREGISTERED"})
			test.SliceLen(studio.T, 1, told(studio, "14:00"), test.Sprint("the push that fails"))
			studio.Clock.Set(testkit.Noon.Add(30 * time.Minute))
			test.SliceLen(studio.T, 1, told(studio, "14:30"), test.Sprint("by SMS"))
			studio.Clock.Set(testkit.Noon.Add(90*time.Minute + time.Second))
			expect.Reason(studio.T, fault.CancellationWindow)(studio.Cancel(noa, id))
		},
	})
}

package schedules_test

import (
	"sync"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestPublishSession_AndBackToDraft(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.CreateSession(studio.SessionInput(testkit.Evening), false)
	test.EqOp(
		t, "draft", expect.Reason(t, fault.SessionNotOpen)(studio.Book(studio.AddMember("Mia"), s.ID)).Metadata["state"],
	)

	published := expect.Value(studio.App.Schedules.PublishSession(t.Context(), studio.Owner, s.ID, new(1)))(t)
	must.EqOp(t, catalog.Published, published.State)
	must.EqOp(t, 2, published.Version)
	again := expect.Value(studio.App.Schedules.PublishSession(t.Context(), studio.Owner, s.ID, nil))(t)
	test.EqOp(t, 2, again.Version, test.Sprintf("published again: %+v", again))
	expect.Reason(t, fault.ETagMismatch)(studio.App.Schedules.PublishSession(t.Context(), studio.Owner, s.ID, new(1)))

	draft := expect.Value(studio.App.Schedules.UnpublishSession(t.Context(), studio.Owner, s.ID, new(2)))(t)
	must.EqOp(t, catalog.Draft, draft.State, must.Sprintf("%+v", draft))
	again = expect.Value(studio.App.Schedules.UnpublishSession(t.Context(), studio.Owner, s.ID, nil))(t)
	test.EqOp(t, 3, again.Version, test.Sprintf("unpublished again: %+v", again))
	test.EqOp(t, "session.created session.published session.unpublished", studio.SessionEvents(s.ID),
		test.Sprint("events"))
}

func TestUnpublishSession_RejectsActiveBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{})
	id := studio.MustBook(mia, class)
	expect.Reason(t, fault.ActiveBookings)(studio.App.Schedules.UnpublishSession(t.Context(), studio.Owner, class, nil))
	test.EqOp(t, catalog.Published, studio.GetSession(class).State, test.Sprint("it was unpublished all the same"))
	expect.OK(t)(studio.Cancel(mia, id))
	expect.OK(t)(studio.App.Schedules.UnpublishSession(t.Context(), studio.Owner, class, nil))

	none := studio.AddSession(testkit.Session{Starts: testkit.Evening, Capacity: 1, Waitlist: 1})
	last := studio.MustBook(mia, none)
	studio.MustWaitlist(studio.AddMember("Noa"), none)
	studio.SetRules(func(r *waitlist.Settings) { r.Enabled = new(false) }) // so that Noa keeps waiting
	studio.MustCancel(mia, last)
	// An entry waits.
	expect.Reason(t, fault.ActiveBookings)(studio.App.Schedules.UnpublishSession(t.Context(), studio.Owner, none, nil))
}

func TestPublishSession_RacesWithCancel(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	for range 10 {
		s := studio.CreateSession(studio.SessionInput(testkit.Evening), false)
		var (
			published, cancelled error
			both                 sync.WaitGroup
		)
		both.Go(func() { _, published = studio.App.Schedules.PublishSession(t.Context(), studio.Owner, s.ID, nil) })
		both.Go(func() {
			_, cancelled = studio.App.Schedules.CancelSession(t.Context(), studio.Owner, s.ID, schedules.Removal{
				Notify: true,
			})
		})
		both.Wait()
		must.NoError(t, cancelled)
		if published != nil {
			expect.Reason(t, fault.SessionState)(published)
		}
		got := studio.GetSession(s.ID)
		must.EqOp(t, catalog.Cancelled, got.State, must.Sprintf("state %s after %v", got.State, published))
	}
}

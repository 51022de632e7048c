package schedules_test

import (
	"context"
	"sync"
	"testing"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
)

func TestPublishSession_AndBackToDraft(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	s := h.CreateSession(h.SessionInput(testkit.Evening), false)
	_, err := h.Book(h.AddMember("Mia"), s.ID)
	testkit.WantReason(t, err, fault.SessionNotOpen) // a draft cannot be booked
	if testkit.Meta(t, err, "state") != "draft" {
		t.Errorf("metadata %v", testkit.FaultOf(err).Metadata)
	}

	published, err := h.App.Schedules.PublishSession(ctx, h.Owner, s.ID, new(1))
	if err != nil || published.State != catalog.Published || published.Version != 2 {
		t.Fatalf("%+v (%v)", published, err)
	}
	if again, err := h.App.Schedules.PublishSession(ctx, h.Owner, s.ID, nil); err != nil || again.Version != 2 {
		t.Errorf("published again: %+v (%v)", again, err)
	}
	_, err = h.App.Schedules.PublishSession(ctx, h.Owner, s.ID, new(1))
	testkit.WantReason(t, err, fault.ETagMismatch)

	draft, err := h.App.Schedules.UnpublishSession(ctx, h.Owner, s.ID, new(2))
	if err != nil || draft.State != catalog.Draft {
		t.Fatalf("%+v (%v)", draft, err)
	}
	if again, err := h.App.Schedules.UnpublishSession(ctx, h.Owner, s.ID, nil); err != nil || again.Version != 3 {
		t.Errorf("unpublished again: %+v (%v)", again, err)
	}
	if got := h.SessionEvents(s.ID); got != "session.created session.published session.unpublished" {
		t.Errorf("events %q", got)
	}
}

func TestUnpublishSession_RejectsActiveBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	mia := h.AddMember("Mia")
	class := h.AddSession(testkit.Session{})
	id := h.MustBook(mia, class)
	_, err := h.App.Schedules.UnpublishSession(ctx, h.Owner, class, nil)
	testkit.WantReason(t, err, fault.ActiveBookings)
	if h.GetSession(class).State != catalog.Published {
		t.Error("it was unpublished all the same")
	}
	if _, err := h.Cancel(mia, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.App.Schedules.UnpublishSession(ctx, h.Owner, class, nil); err != nil {
		t.Errorf("with nothing but a cancelled booking: %v", err)
	}

	none := h.AddSession(testkit.Session{Starts: testkit.Evening, Capacity: 1, Waitlist: 1})
	last := h.MustBook(mia, none)
	h.MustWaitlist(h.AddMember("Noa"), none)
	h.SetRules(func(r *waitlist.Settings) { r.Enabled = new(false) }) // so that Noa keeps waiting
	h.MustCancel(mia, last)
	_, err = h.App.Schedules.UnpublishSession(ctx, h.Owner, none, nil)
	testkit.WantReason(t, err, fault.ActiveBookings) // somebody waits
}

func TestPublishSession_RacesWithCancel(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	for range 10 {
		s := h.CreateSession(h.SessionInput(testkit.Evening), false)
		var published, cancelled error
		var both sync.WaitGroup
		both.Go(func() { _, published = h.App.Schedules.PublishSession(ctx, h.Owner, s.ID, nil) })
		both.Go(func() { _, cancelled = h.App.Schedules.CancelSession(ctx, h.Owner, s.ID, "", true) })
		both.Wait()
		if cancelled != nil {
			t.Fatal(cancelled)
		}
		if published != nil {
			testkit.WantReason(t, published, fault.SessionState)
		}
		if got := h.GetSession(s.ID); got.State != catalog.Cancelled {
			t.Fatalf("state %s after %v", got.State, published)
		}
	}
}

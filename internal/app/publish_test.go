package app_test

import (
	"context"
	"sync"
	"testing"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func TestDraftToPublishedToDraft(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	s := h.createSession(h.sessionInput(evening), false)
	_, err := h.book(h.member("Mia"), s.ID)
	wantReason(t, err, fault.SessionNotOpen) // a draft cannot be booked
	if meta(t, err, "state") != "draft" {
		t.Errorf("metadata %v", faultOf(err).Metadata)
	}

	published, err := h.app.PublishSession(ctx, h.Owner, s.ID, new(1))
	if err != nil || published.State != catalog.Published || published.Version != 2 {
		t.Fatalf("%+v (%v)", published, err)
	}
	if again, err := h.app.PublishSession(ctx, h.Owner, s.ID, nil); err != nil || again.Version != 2 {
		t.Errorf("published again: %+v (%v)", again, err)
	}
	_, err = h.app.PublishSession(ctx, h.Owner, s.ID, new(1))
	wantReason(t, err, fault.ETagMismatch)

	draft, err := h.app.UnpublishSession(ctx, h.Owner, s.ID, new(2))
	if err != nil || draft.State != catalog.Draft {
		t.Fatalf("%+v (%v)", draft, err)
	}
	if again, err := h.app.UnpublishSession(ctx, h.Owner, s.ID, nil); err != nil || again.Version != 3 {
		t.Errorf("unpublished again: %+v (%v)", again, err)
	}
	if got := h.sessionEvents(s.ID); got != "session.created session.published session.unpublished" {
		t.Errorf("events %q", got)
	}
}

func TestUnpublishingRequiresNoActiveBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia := h.member("Mia")
	class := h.session(slot{})
	id := h.mustBook(mia, class)
	_, err := h.app.UnpublishSession(ctx, h.Owner, class, nil)
	wantReason(t, err, fault.ActiveBookings)
	if h.getSession(class).State != catalog.Published {
		t.Error("it was unpublished all the same")
	}
	if _, err := h.cancel(mia, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.app.UnpublishSession(ctx, h.Owner, class, nil); err != nil {
		t.Errorf("with nothing but a cancelled booking: %v", err)
	}

	none := h.session(slot{Starts: evening, Capacity: 1, Waitlist: 1})
	h.mustBook(mia, none)
	h.mustWait(h.member("Noa"), none)
	h.exec(`update bookings set status = 'CANCELLED' where session_id = $1`, none)
	h.exec(`update sessions set seats_taken = 0 where id = $1`, none)
	_, err = h.app.UnpublishSession(ctx, h.Owner, none, nil)
	wantReason(t, err, fault.ActiveBookings) // somebody waits
}

func TestPublishAgainstCancel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	for range 10 {
		s := h.createSession(h.sessionInput(evening), false)
		var published, cancelled error
		var both sync.WaitGroup
		both.Go(func() { _, published = h.app.PublishSession(ctx, h.Owner, s.ID, nil) })
		both.Go(func() { _, cancelled = h.app.CancelSession(ctx, h.Owner, s.ID, "", true) })
		both.Wait()
		if cancelled != nil {
			t.Fatal(cancelled)
		}
		if published != nil {
			wantReason(t, published, fault.SessionState)
		}
		if got := h.getSession(s.ID); got.State != catalog.Cancelled {
			t.Fatalf("state %s after %v", got.State, published)
		}
	}
}

package bookings_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A list has the bookings that match, page after page, also those of deleted sessions. What changes after it is read
// comes after its end in the event log.
func TestListBookings_SelectsAndIsFollowedByTheLog(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx, mia, noa, desk := t.Context(), studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddPartner("Desk")
	early := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(26 * time.Hour)})
	late := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(50 * time.Hour)})
	gone := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
	mias, noas := studio.MustBook(mia, early), studio.MustBook(noa, early)
	moved, guests := studio.MustBook(mia, late), studio.MustHold(desk, late, testkit.ForGuest("Pat", "")).ID
	deleted := studio.MustBook(noa, gone)
	studio.CancelSession(gone)
	studio.DeleteSession(gone)
	list := func(by tenant.Caller, f bookings.BookingFilter) (found []tenant.BookingID) {
		for q := (bookings.BookingQuery{BookingFilter: f, Limit: 2}); ; {
			page := expect.Value(studio.App.Bookings.ListBookings(ctx, by, q))(t).Bookings
			for _, b := range page {
				found = append(found, b.ID)
			}
			if len(page) < q.Limit {
				return found
			}
			last := page[len(page)-1]
			q.AfterStart, q.AfterSession, q.AfterID = last.StartsAt, last.Session, last.ID
		}
	}
	days := bookings.BookingFilter{From: testkit.Noon, Until: testkit.Noon.AddDate(0, 0, 3)}
	with := func(change func(*bookings.BookingFilter)) bookings.BookingFilter {
		f := days
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		by   tenant.Caller
		f    bookings.BookingFilter
		want []tenant.BookingID
	}{
		"all of a span": {studio.Owner, days, []tenant.BookingID{mias, noas, moved, guests, deleted}},
		"by the end": {
			studio.Owner, with(func(f *bookings.BookingFilter) { f.Until = testkit.Noon.Add(50 * time.Hour) }),
			[]tenant.BookingID{mias, noas},
		},
		"by status": {
			studio.Owner, with(func(f *bookings.BookingFilter) { f.Statuses = []booking.Status{booking.Cancelled} }),
			[]tenant.BookingID{deleted},
		},
		"by creator": {
			studio.Owner, with(func(f *bookings.BookingFilter) { f.CreatedBy = desk.Subject[len(tenant.AccountPrefix):] }),
			[]tenant.BookingID{guests},
		},
		"of another service": {
			studio.Owner, with(func(f *bookings.BookingFilter) { f.Service = tenant.New[tenant.ServiceID](testkit.Noon) }), nil,
		},
		"of another place": {
			studio.Owner, with(func(f *bookings.BookingFilter) { f.Location = tenant.New[tenant.LocationID](testkit.Noon) }),
			nil,
		},
		"of a session":       {studio.Owner, bookings.BookingFilter{Session: late}, []tenant.BookingID{moved, guests}},
		"of a member":        {studio.Owner, bookings.BookingFilter{Member: mia.Member}, []tenant.BookingID{mias, moved}},
		"one's own":          {testkit.SelfOnly(noa), days, []tenant.BookingID{noas, deleted}},
		"others of one's":    {testkit.SelfOnly(noa), bookings.BookingFilter{Member: mia.Member}, nil},
		"a service accounts": {testkit.SelfOnly(desk), bookings.BookingFilter{}, []tenant.BookingID{guests}},
	} {
		got := list(c.by, c.f)
		sort := func(a, b tenant.BookingID) int { return slices.Compare(a.UUID[:], b.UUID[:]) }
		slices.SortFunc(got, sort)
		slices.SortFunc(c.want, sort)
		test.Eq(t, c.want, got, test.Sprint(name))
	}

	page := expect.Value(studio.App.Bookings.ListBookings(
		ctx, studio.Owner, bookings.BookingQuery{BookingFilter: days, Limit: 1},
	))(t)
	expect.OK(t)(studio.Cancel(mia, mias))
	var since []tenant.BookingID
	for len(since) == 0 { // until no transaction of another test keeps it back
		log := expect.Value(studio.App.Events.ListEvents(
			ctx, testkit.ReaderOfAll(studio.Owner), events.EventQuery{Cursor: page.End, Limit: 99},
		))(t)
		for _, e := range log.Events {
			if e.Data.Type() == "booking.cancelled" && e.Booking == mias {
				since = append(since, e.Booking)
			}
		}
	}
	test.Eq(t, []tenant.BookingID{mias}, since)
}

// A batch has what the caller may read, in the order of the ids.
func TestBatchGetBookings_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	class := studio.AddSession(testkit.Session{})
	mias, noas, none := studio.MustBook(
		mia,
		class,
	), studio.MustBook(
		noa,
		class,
	), tenant.New[tenant.BookingID](
		testkit.Noon,
	)
	for name, c := range map[string]struct {
		by             tenant.Caller
		found, missing []tenant.BookingID
	}{
		"all":       {studio.Owner, []tenant.BookingID{noas, mias}, []tenant.BookingID{none}},
		"one's own": {testkit.SelfOnly(mia), []tenant.BookingID{mias}, []tenant.BookingID{noas, none}},
	} {
		found, missing, err := studio.App.Bookings.BatchGetBookings(
			t.Context(), c.by, []tenant.BookingID{noas, none, mias},
		)
		must.NoError(t, err, must.Sprint(name))
		var ids []tenant.BookingID
		for _, b := range found {
			ids = append(ids, b.ID)
		}
		test.Eq(t, c.found, ids, test.Sprint(name))
		test.Eq(t, c.missing, missing, test.Sprint(name))
	}
}

// An edit is a new version of the booking, with an event; one by staff is audited. An edit of an old version is
// refused, and one that changes nothing leaves no trace.
func TestUpdateBooking_EditsTheVersionThatWasRead(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx, mia, noa := t.Context(), studio.AddMember("Mia"), studio.AddMember("Noa")
	class := studio.AddSession(testkit.Session{})
	id, guest := studio.MustBook(mia, class), studio.MustHold(studio.Owner, class, testkit.ForGuest("Pat", "")).ID
	note := func(text string) func(*booking.Details) { return func(d *booking.Details) { d.Note = text } }
	studio.Clock.Set(testkit.Noon.Add(time.Minute))
	audited := len(studio.Audited())

	edited := expect.Value(studio.App.Bookings.UpdateBooking(ctx, testkit.SelfOnly(mia), id, new(1), note("window")))(t)
	test.EqOp(t, "window", edited.Note)
	test.EqOp(t, 2, edited.Version)
	test.EqOp(t, testkit.Noon.Add(time.Minute), edited.UpdatedAt)
	test.Eq(t, edited, expect.Value(studio.App.Bookings.GetBooking(ctx, mia, id))(t))
	test.SliceLen(t, audited, studio.Audited())
	expect.Reason(t, fault.ETagMismatch)(
		studio.App.Bookings.UpdateBooking(ctx, testkit.SelfOnly(mia), id, new(1), note("door")))
	expect.Reason(t, fault.BookingNotFound)(
		studio.App.Bookings.UpdateBooking(ctx, testkit.SelfOnly(noa), id, nil, note("door")))
	same := expect.Value(studio.App.Bookings.UpdateBooking(ctx, studio.Owner, id, nil, note("window")))(t)
	test.EqOp(t, 2, same.Version)
	expect.OK(t)(studio.App.Bookings.UpdateBooking(ctx, studio.Owner, id, new(2), note("door")))
	test.SliceLen(t, audited+1, studio.Audited())
	expect.Reason(t, fault.InvalidField)(studio.App.Bookings.UpdateBooking(ctx, studio.Owner, guest, nil,
		func(d *booking.Details) { d.Contact = booking.Contact{} }))
}

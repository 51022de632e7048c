package waitlists_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestJoinWaitlist_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	full, _, _ := studio.AddFullSession(1)
	open := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(50 * time.Hour), Waitlist: 5})
	none := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(51 * time.Hour), Capacity: 1})
	studio.MustBook(studio.AddMember("Holder"), none)
	small, _, _ := studio.AddFullSession(
		1, testkit.StartingAt(testkit.Noon.Add(53*time.Hour)), func(s *testkit.Session) { s.Waitlist = 1 },
	)
	studio.AddWaiters(1, testkit.ForSessions(small))
	holder, waiter := studio.AddMember("Holder"), studio.AddMember("Waiter")
	taken := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(55 * time.Hour), Capacity: 1, Waitlist: 5})
	studio.MustBook(holder, taken)
	studio.MustJoin(waiter, testkit.ForSessions(full))
	studio.MustJoin(waiter, studio.ForWindow("2026-03-23", "2026-03-25", "08:00", "12:00"))
	foreign, _, _ := studio.OtherTenant().AddFullSession(1)
	mia, gone := studio.AddMember("Mia"), studio.AddMember("Gus")
	studio.Deactivate(gone)
	pier := studio.AddLocation(catalog.Location{Name: "Pier"})
	studio.EditLocation(pier, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Online} })
	far := studio.AddResource(catalog.Resource{Name: "Far", Location: pier})
	closed, ended := studio.AddLocation(catalog.Location{Name: "Old"}), studio.AddService(catalog.Service{Name: "Old"})
	studio.EditLocation(closed, func(l *catalog.Location) { l.Active = false })
	expect.OK(t)(studio.App.Catalog.UpdateService(t.Context(), studio.Owner, ended, nil,
		func(s *catalog.Service) { s.Active = false }))
	window := func(change func(*waitlists.JoinRequest)) waitlists.JoinRequest {
		r := studio.ForWindow("2026-03-25", "2026-03-25", "08:00", "12:00")
		change(&r)
		return r
	}
	// Another coach is another target, and so is another time than that of a session with seats.
	other := studio.ForWindow("2026-03-18", "2026-03-24", "08:00", "12:00")
	other.Coach = studio.Coach.Member
	studio.MustJoin(waiter, other)
	for name, tt := range map[string]struct {
		who  tenant.Caller
		ask  waitlists.JoinRequest
		want string // how the error begins
	}{
		"there are seats":          {mia, testkit.ForSessions(open), "SEATS_AVAILABLE"},
		"one of several has seats": {mia, testkit.ForSessions(full, open), "SEATS_AVAILABLE"},
		"a session in the window has seats": {
			mia, studio.ForWindow("2026-03-18", "2026-03-18", "10:00", "20:00"), "SEATS_AVAILABLE session_id=",
		},
		"no queue":                 {mia, testkit.ForSessions(none), "WAITLIST_CLOSED"},
		"no room in the queue":     {mia, testkit.ForSessions(small), "WAITLIST_FULL"},
		"has a booking":            {holder, testkit.ForSessions(taken), "ALREADY_BOOKED"},
		"waits already":            {waiter, testkit.ForSessions(full), "ALREADY_BOOKED"},
		"waits for one of several": {waiter, testkit.ForSessions(taken, full), "ALREADY_BOOKED"},
		"waits in a window that overlaps": {
			waiter, studio.ForWindow("2026-03-25", "2026-03-29", "08:00", "12:00"), "ALREADY_BOOKED",
		},
		"the window has passed": {
			mia, studio.ForWindow("2026-03-10", "2026-03-15", "08:00", "12:00"), "INVALID_FIELD @window.last_date",
		},
		"the window ends before it begins": {
			mia, studio.ForWindow("2026-03-25", "2026-03-24", "08:00", "12:00"), "INVALID_FIELD @window.last_date",
		},
		"the window is too long": {
			mia, studio.ForWindow("2026-03-20", "2026-06-20", "08:00", "12:00"), "INVALID_FIELD @window.last_date",
		},
		"the window is a day too long": {
			mia, studio.ForWindow("2026-03-20", "2026-05-19", "08:00", "12:00"), "INVALID_FIELD @window.last_date",
		},
		"a party too large for a window": {
			mia, window(func(r *waitlists.JoinRequest) { r.Party = 5 }), "PARTY_SIZE @party_size max=4 min=1",
		},
		"a party too small for a window": {
			mia, window(func(r *waitlists.JoinRequest) { r.Party = -1 }), "PARTY_SIZE @party_size max=4 min=1",
		},
		"a window at no location": {
			mia, window(func(r *waitlists.JoinRequest) { r.Window.Location = testkit.NewID[tenant.LocationID]() }),
			"LOCATION_NOT_FOUND",
		},
		"a window at a closed location": {
			mia, window(func(r *waitlists.JoinRequest) { r.Window.Location = closed }), "LOCATION_NOT_FOUND",
		},
		"a window for no service": {
			mia, window(func(r *waitlists.JoinRequest) { r.Window.Service = testkit.NewID[tenant.ServiceID]() }),
			"SERVICE_NOT_FOUND",
		},
		"a window for an ended service": {
			mia, window(func(r *waitlists.JoinRequest) { r.Window.Service = ended }), "SERVICE_NOT_FOUND",
		},
		"a window with no resource": {
			mia, window(func(r *waitlists.JoinRequest) { r.Window.Resource = testkit.NewID[tenant.ResourceID]() }),
			"RESOURCE_NOT_FOUND",
		},
		"a window with a resource of another location": {
			mia, window(func(r *waitlists.JoinRequest) { r.Window.Resource = far }), "RESOURCE_NOT_FOUND",
		},
		"through a closed channel": {
			studio.Owner, window(func(r *waitlists.JoinRequest) {
				r.Member, r.Window.Location, r.Channel = mia.Member, pier, catalog.Phone
			}), "CHANNEL_CLOSED @channel channel=PHONE",
		},
		"through a channel of staff": {
			testkit.SelfOnly(mia), window(func(r *waitlists.JoinRequest) { r.Channel, r.Party = catalog.Phone, 4 }),
			"PERMISSION_DENIED @channel channel=PHONE",
		},
		"with an unknown coach": {
			mia, window(func(r *waitlists.JoinRequest) { r.Coach = testkit.NewID[tenant.MemberID]() }), "MEMBER_NOT_FOUND",
		},
		"another tenant's session": {mia, testkit.ForSessions(foreign), "SESSION_NOT_FOUND session_id="},
		"an unknown session among several": {
			mia, testkit.ForSessions(full, testkit.NewID[tenant.SessionID]()), "SESSION_NOT_FOUND session_id=",
		},
		"for one who is no member any more": {
			studio.Owner, waitlists.JoinRequest{Sessions: []tenant.SessionID{full}, Member: gone.Member}, "MEMBER_NOT_FOUND",
		},
		"for another member": {
			testkit.SelfOnly(mia), waitlists.JoinRequest{Sessions: []tenant.SessionID{full}, Member: waiter.Member},
			"MEMBER_NOT_FOUND",
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.StrHasPrefix(t, tt.want, faulttest.Text(expect.Error(studio.Join(tt.who, tt.ask))))
		})
	}
}

func TestJoinWaitlist_LimitsQueueOfADay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) { s.MaxQueueSize = new(2) })
	one, _, _ := studio.AddFullSession(1)
	two, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(50*time.Hour)))
	next, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)))
	studio.AddWaiters(1, testkit.ForSessions(one))
	studio.MustJoin(studio.AddMember("Both"), testkit.ForSessions(one, two)) // counts once
	test.EqOp(t, "2026-03-18", expect.Reason(t, fault.WaitlistFull)(
		studio.Join(studio.AddMember("Late"), testkit.ForSessions(two)),
	).Metadata["date"])
	expect.Reason(t, fault.WaitlistFull)(
		studio.Join(studio.AddMember("Late"), studio.ForWindow("2026-03-17", "2026-03-19", "00:00", "23:59")),
	)
	expect.Reason(t, fault.SessionFull)(studio.Book(studio.AddMember("Booker"), two))
	studio.AddWaiters(2, testkit.ForSessions(next)) // another day, another queue
	service := studio.AddService(catalog.Service{Name: "Massage"})
	booked := studio.AddLocation(catalog.Location{Name: "Pier 2"})
	for _, change := range []func(*testkit.Session){
		func(s *testkit.Session) { s.Service = service }, func(s *testkit.Session) { s.Location = booked },
	} {
		class, _, _ := studio.AddFullSession(1, change) // and so have other services, and other places
		studio.AddWaiters(2, testkit.ForSessions(class))
		expect.Reason(t, fault.WaitlistFull)(studio.Join(studio.AddMember("Late"), testkit.ForSessions(class)))
	}
}

func TestJoinWaitlist_RejectsWhenClosed(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, _, _ := studio.AddFullSession(1)
	studio.SetRules(func(s *waitlist.Settings) { s.Enabled = new(false) })
	expect.Reason(t, fault.WaitlistClosed)(studio.Join(studio.AddMember("Mia"), testkit.ForSessions(class)))
	expect.Reason(t, fault.WaitlistClosed)(
		studio.Join(studio.AddMember("Mia"), studio.ForWindow("2026-03-25", "2026-03-25", "08:00", "12:00")),
	)
}

func TestPositions_FollowTheOrderOfTheRules(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, _, _ := studio.AddFullSession(1)
	who, ids := studio.AddWaiters(3, testkit.ForSessions(class))
	studio.SetTier(who[2], "gold")
	positions := func() string {
		return fmt.Sprint(studio.Entry(ids[0]).Position, studio.Entry(ids[1]).Position, studio.Entry(ids[2]).Position)
	}
	test.EqOp(t, "1 2 3", positions(), test.Sprint("by joining"))
	studio.SetRules(func(s *waitlist.Settings) {
		s.Order, s.TierBonuses = new(waitlist.ByPriority), &map[string]int{"gold": 20}
	})
	test.EqOp(t, "2 3 1", positions(), test.Sprint("by priority"))
	expect.OK(t)(studio.App.Waitlists.SetWaitlistPriority(
		context.Background(), studio.Owner, ids[1], waitlists.PriorityEdit{Flagged: new(true)},
	))
	test.EqOp(t, "3 1 2", positions(), test.Sprint("with a flag"))
	e := expect.Value(studio.App.Waitlists.LeaveWaitlist(
		context.Background(), testkit.SelfOnly(who[1]), ids[1], "", false,
	))(t)
	test.EqOp(t, waitlist.Cancelled, e.Status)
	test.EqOp(t, 0, e.Position)
	test.EqOp(t, "2 0 1", positions(), test.Sprint("after one left"))
	for range 2 {
		expect.OK(t)(studio.App.Waitlists.LeaveWaitlist(
			context.Background(), testkit.SelfOnly(who[1]), ids[1], "", false,
		))
	}
	expect.Reason(t, fault.WaitlistEntryNotFound)(
		studio.App.Waitlists.LeaveWaitlist(context.Background(), testkit.SelfOnly(who[0]), ids[2], "", false),
	)
}

func TestJoinWaitlist_HappensOncePerExternalReference(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.AutoPromote)
	class, who, booked := studio.AddFullSession(1)
	mia := studio.AddMember("Mia")
	again := func(ask waitlists.JoinRequest, id tenant.EntryID) {
		t.Helper()
		again := expect.Value(studio.Join(mia, ask))(t)
		test.True(t, again.Repeated, test.Sprintf("%+v", again))
		test.EqOp(t, id, again.Entry.ID)
		test.EqOp(t, studio.Entry(id).Position, again.Entry.Position)
		ask.Party = 2
		test.EqOp(t, "external_ref", expect.Reason(t, fault.ExternalRefConflict)(studio.Join(mia, ask)).Field)
	}
	for name, ask := range map[string]waitlists.JoinRequest{
		"a session": testkit.ForSessions(class),
		// It began yesterday; what is asked for is the same however late it is asked again.
		"a window": studio.ForWindow("2026-03-15", "2026-03-16", "00:00", "23:59"),
	} {
		ask.ExternalRef = "ref of " + name
		id := studio.MustJoin(mia, ask).ID
		again(ask, id)
		if ask.Window == nil {
			studio.MustCancel(who[0], booked[0])
			studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: waitlist.Booked})
			again(ask, id) // also when the entry has got its place
		}
	}
	expect.OK(t)(studio.Book(mia, studio.AddSession(testkit.Session{}), func(r *bookings.BookRequest) {
		r.ExternalRef = "booking"
	}))
	ask := studio.ForWindow("2026-03-20", "2026-03-20", "00:00", "23:59")
	ask.ExternalRef = "booking"
	expect.Reason(t, fault.ExternalRefConflict)(studio.Join(mia, ask))
}

// An entry for any of several sessions is in each of their queues, and leaves all of them when it gets a seat.
func TestEntry_BookingOneSessionEndsTheOthers(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.AutoPromote)
	one, _, _ := studio.AddFullSession(1)
	two, who, booked := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)))
	id := studio.MustJoin(studio.AddMember("Mia"), testkit.ForSessions(one, two)).ID
	test.EqOp(t, "1 1", studio.Text(
		`select string_agg(waiting::text, ' ') from sessions where id = any($1)`, []tenant.SessionID{one, two},
	), test.Sprint("waiting"))
	studio.MustCancel(who[0], booked[0])
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: waitlist.Booked})
	test.EqOp(t, 0, studio.Count(`select count(*) from waitlist_places`), test.Sprint("places are left"))
}

// A target for any of several goes with the last of them.
func TestEntry_EndsWithItsLastSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	one, _, _ := studio.AddFullSession(1)
	two, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)))
	id := studio.MustJoin(studio.AddMember("Mia"), testkit.ForSessions(one, two)).ID
	for i, class := range []tenant.SessionID{one, two} {
		expect.OK(t)(studio.App.Schedules.CancelSession(context.Background(), studio.Owner, class, schedules.Removal{}))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: []waitlist.Status{waitlist.Waiting, waitlist.Cancelled}[i]})
		studio.WantSound()
	}
}

// Windows are days and times at the location: over midnight, and on the Sunday on which its clocks skip an hour.
func TestTimeWindow_UsesTheLocationsZone(t *testing.T) {
	t.Parallel()
	type row struct {
		from, until, earliest, latest string
		starts                        time.Time
		fits                          bool
	}
	testkit.Each(t, map[string]row{
		// 19:30 in Berlin
		"in it": {
			"2026-03-18", "2026-03-18", "18:00", "20:00", testkit.UTC("2026-03-18T18:30:00Z"), true,
		},
		// half an hour off: flexible
		"at the same time in UTC": {
			"2026-03-18", "2026-03-18", "20:30", "21:00", testkit.UTC("2026-03-18T20:30:00Z"), true,
		},
		"too late": {
			"2026-03-18", "2026-03-18", "18:00", "20:00", testkit.UTC("2026-03-18T20:01:00Z"), false,
		},
		"late by what rules allow": {
			"2026-03-18", "2026-03-18", "18:00", "20:00", testkit.UTC("2026-03-18T20:00:00Z"), true,
		},
		"over midnight, before it": {
			"2026-03-18", "2026-03-18", "22:00", "01:00", testkit.UTC("2026-03-18T22:30:00Z"), true,
		},
		// 0:30 of the day
		"over midnight, after it": {
			"2026-03-18", "2026-03-18", "22:00", "01:00", testkit.UTC("2026-03-17T23:30:00Z"), true,
		},
		"after midnight of the next day": {
			"2026-03-18", "2026-03-18", "22:00", "01:00", testkit.UTC("2026-03-18T23:30:00Z"), false,
		},
		"before the clocks go forward": {
			"2026-03-29", "2026-03-29", "01:00", "01:59", testkit.UTC("2026-03-29T00:30:00Z"), true,
		},
		// 18:15 in summer time
		"after the clocks went forward": {
			"2026-03-29", "2026-03-29", "18:00", "18:30", testkit.UTC("2026-03-29T16:15:00Z"), true,
		},
		// 17:15: early by what rules allow
		"the day before, in winter time": {
			"2026-03-28", "2026-03-28", "18:00", "18:30", testkit.UTC("2026-03-28T16:15:00Z"), true,
		},
	}, func(studio *testkit.Studio, tt row) {
		id := studio.MustJoin(studio.AddMember("Mia"), studio.ForWindow(tt.from, tt.until, tt.earliest, tt.latest)).ID
		studio.CreateSession(studio.SessionInput(tt.starts), true)
		test.EqOp(studio.T, tt.fits, studio.Entry(id).Status == waitlist.Offered)
	})
}

// Queues follow a session to another day.
func TestQueue_MovesWithItsSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(2)
	other, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(50*time.Hour)))
	_, ids := studio.AddWaiters(2, testkit.ForSessions(class))
	both := studio.MustJoin(studio.AddMember("Both"), testkit.ForSessions(class, other)).ID
	studio.MustCancel(who[0], booked[0])
	shift(studio, class, testkit.Noon.Add(96*time.Hour))
	test.EqOp(t, "2026-03-18 1, 2026-03-20 3", studio.Text(
		`select string_agg(local_date || ' ' || waiting, ', ' order by local_date) from waitlist_queues`,
	))
	// The offer was for another time, and is made again for this one.
	offers := studio.Offers(class)
	test.SliceLen(t, 2, offers)
	test.False(t, studio.LiveOffer(ids[0]).ExpiresAt.IsZero(), test.Sprintf("%+v", offers))
	e := studio.Entry(ids[0])
	test.EqOp(t, 1, e.Tries, test.Sprintf("%d tries count", e.Tries))
	studio.MustCancel(who[1], booked[1])
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Offered, ids[1]: waitlist.Offered, both: waitlist.Waiting,
	})
}

// Staff join for members, through channels of their own and past their credits.
func TestJoinWaitlist_StaffJoinForMembers(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, who, booked := studio.AddFullSession(1)
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
	expect.Reason(t, fault.NoCredits)(studio.Join(mia, testkit.ForSessions(class)))
	result := expect.Value(studio.App.Waitlists.JoinWaitlist(context.Background(), studio.Owner, waitlists.JoinRequest{
		Member: mia.Member, Sessions: []tenant.SessionID{class}, Party: 1, Channel: catalog.Phone,
	}))(t)
	studio.MustCancel(who[0], booked[0])
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{result.Entry.ID: waitlist.Offered})
}

// A seat that an entry does not want goes to others, and the entry waits for the next one that it wants.
func TestEntry_IsOfferedWhatItNames(t *testing.T) {
	t.Parallel()
	type row struct {
		seats int // of the second of two full sessions; the first has one
		// names says in the target what the second session has, and the first has not.
		names  func(studio *testkit.Studio, target *waitlists.JoinRequest, other, this tenant.SessionID)
		reason waitlist.VerdictReason
	}
	testkit.Each(t, map[string]row{
		"a coach": {1, func(studio *testkit.Studio, target *waitlists.JoinRequest, other, this tenant.SessionID) {
			studio.EditSession(other, session.Input{Coach: studio.Owner.Member}, session.CoachField)
			studio.EditSession(this, session.Input{Coach: studio.Coach.Member}, session.CoachField)
			target.Coach = studio.Coach.Member
		}, waitlist.OtherStaff},
		"a session with a coach, when the other has none": {1,
			func(studio *testkit.Studio, target *waitlists.JoinRequest, _, this tenant.SessionID) {
				studio.EditSession(this, session.Input{Coach: studio.Coach.Member}, session.CoachField)
				target.Coach = studio.Coach.Member
			}, waitlist.OtherStaff},
		"a court": {1, func(studio *testkit.Studio, target *waitlists.JoinRequest, other, this tenant.SessionID) {
			for _, id := range []tenant.SessionID{other, this} {
				target.Window.Resource = studio.AddResource(catalog.Resource{Name: "Court " + id.String()})
				studio.EditSession(id, session.Input{Resource: target.Window.Resource}, session.ResourceField)
			}
		}, waitlist.OtherResource},
		"a time of day": {1, func(_ *testkit.Studio, target *waitlists.JoinRequest, _, _ tenant.SessionID) {
			target.Window.Earliest, target.Window.Latest = civiltest.TimeOfDay("17:00"), civiltest.TimeOfDay("18:00")
		}, waitlist.OtherTime},
		"fewer seats than a party needs": {2, func(_ *testkit.Studio, target *waitlists.JoinRequest, _, _ tenant.SessionID) {
			target.Party = 2
		}, waitlist.VerdictReason(fault.PartySize)},
		"who may have it": {1, func(studio *testkit.Studio, _ *waitlists.JoinRequest, _, _ tenant.SessionID) {
			edit(studio, func(s *waitlist.Settings) { s.EligibilityExpression = new(`slot.time > "16:00"`) })
		}, waitlist.NotEligible},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetMode(waitlist.OfferInTurn)
		// at 13:00 in Berlin
		other, others, bookedOther := studio.AddFullSession(1)
		// at 17:00
		this, holders, booked := studio.AddFullSession(tt.seats, testkit.StartingAt(testkit.Noon.Add(52*time.Hour)))
		target := studio.ForWindow("2026-03-18", "2026-03-18", "06:00", "22:00")
		tt.names(studio, &target, other, this)
		mia := studio.MustJoin(studio.AddMember("Mia"), target)
		studio.MustCancel(others[0], bookedOther[0])
		e := studio.Entry(mia.ID)
		test.EqOp(studio.T, waitlist.Waiting, e.Status,
			test.Sprintf("she is %s, passed over for %q", e.Status, e.PassedOver))
		test.EqOp(studio.T, tt.reason, e.PassedOver,
			test.Sprintf("she is %s, passed over for %q", e.Status, e.PassedOver))
		for i, id := range booked {
			studio.MustCancel(holders[i], id)
		}
		o := studio.LiveOffer(mia.ID)
		test.EqOp(studio.T, this, o.Session, test.Sprintf("%+v", o))
		wantDecisionsFollow(studio, studio.T)
	})
}

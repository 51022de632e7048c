package waitlists_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestJoinWaitlist_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	full, _, _ := h.AddFullSession(1)
	open := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(50 * time.Hour), Waitlist: 5})
	none := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(51 * time.Hour), Capacity: 1})
	h.MustBook(h.AddMember("Holder"), none)
	small, _, _ := h.AddFullSession(
		1, testkit.StartingAt(testkit.Noon.Add(53*time.Hour)), func(s *testkit.Session) { s.Waitlist = 1 },
	)
	h.AddWaiters(1, testkit.ForSessions(small))
	holder, waiter := h.AddMember("Holder"), h.AddMember("Waiter")
	taken := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(55 * time.Hour), Capacity: 1, Waitlist: 5})
	h.MustBook(holder, taken)
	h.MustJoin(waiter, testkit.ForSessions(full))
	h.MustJoin(waiter, h.ForWindow("2026-03-23", "2026-03-25", "08:00", "12:00"))
	foreign, _, _ := h.OtherTenant().AddFullSession(1)
	mia := h.AddMember("Mia")
	for name, tt := range map[string]struct {
		who  tenant.Caller
		ask  waitlists.JoinRequest
		want fault.Reason
	}{
		"there are seats":          {mia, testkit.ForSessions(open), fault.SeatsAvailable},
		"one of several has seats": {mia, testkit.ForSessions(full, open), fault.SeatsAvailable},
		"a session in the window has seats": {
			mia, h.ForWindow("2026-03-18", "2026-03-18", "10:00", "20:00"), fault.SeatsAvailable,
		},
		"no queue":                 {mia, testkit.ForSessions(none), fault.WaitlistClosed},
		"no room in the queue":     {mia, testkit.ForSessions(small), fault.WaitlistFull},
		"has a booking":            {holder, testkit.ForSessions(taken), fault.AlreadyBooked},
		"waits already":            {waiter, testkit.ForSessions(full), fault.AlreadyBooked},
		"waits for one of several": {waiter, testkit.ForSessions(taken, full), fault.AlreadyBooked},
		"waits in a window that overlaps": {
			waiter, h.ForWindow("2026-03-25", "2026-03-29", "08:00", "12:00"), fault.AlreadyBooked,
		},
		"the window has passed": {
			mia, h.ForWindow("2026-03-10", "2026-03-15", "08:00", "12:00"), fault.InvalidField,
		},
		"the window ends before it begins": {
			mia, h.ForWindow("2026-03-25", "2026-03-24", "08:00", "12:00"), fault.InvalidField,
		},
		"the window is too long": {
			mia, h.ForWindow("2026-03-20", "2026-06-20", "08:00", "12:00"), fault.InvalidField,
		},
		"a party too large for a window": {mia, func() waitlists.JoinRequest {
			r := h.ForWindow("2026-03-25", "2026-03-25", "08:00", "12:00")
			r.Party = 5
			return r
		}(), fault.PartySize},
		"another tenant's session": {mia, testkit.ForSessions(foreign), fault.SessionNotFound},
		"an unknown session among several": {
			mia, testkit.ForSessions(full, testkit.NewID[tenant.SessionID]()), fault.SessionNotFound,
		},
		"for somebody else": {
			testkit.SelfOnly(mia), waitlists.JoinRequest{Sessions: []tenant.SessionID{full}, Member: waiter.Member},
			fault.MemberNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Join(tt.who, tt.ask)
			testkit.WantReason(t, err, tt.want)
		})
	}
	h.WantSound()
}

func TestJoinWaitlist_LimitsQueueOfADay(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.MaxQueueSize = new(2) })
	one, _, _ := h.AddFullSession(1)
	two, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(50*time.Hour)))
	next, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)))
	h.AddWaiters(1, testkit.ForSessions(one))
	h.MustJoin(h.AddMember("Both"), testkit.ForSessions(one, two)) // counts once
	_, err := h.Join(h.AddMember("Late"), testkit.ForSessions(two))
	testkit.WantReason(t, err, fault.WaitlistFull)
	if day := testkit.Meta(t, err, "date"); day != "2026-03-18" {
		t.Errorf("date %s", day)
	}
	_, err = h.Join(h.AddMember("Late"), h.ForWindow("2026-03-17", "2026-03-19", "00:00", "23:59"))
	testkit.WantReason(t, err, fault.WaitlistFull)
	_, err = h.Book(h.AddMember("Booker"), two)
	testkit.WantReason(t, err, fault.SessionFull)
	h.AddWaiters(2, testkit.ForSessions(next)) // another day, another queue
	service := h.AddService(catalog.Service{Name: "Massage"})
	place := h.AddLocation(catalog.Location{Name: "Pier 2"})
	for _, elsewhere := range []func(*testkit.Session){
		func(s *testkit.Session) { s.Service = service }, func(s *testkit.Session) { s.Location = place },
	} {
		class, _, _ := h.AddFullSession(1, elsewhere) // and so have other services, and other places
		h.AddWaiters(2, testkit.ForSessions(class))
		_, err = h.Join(h.AddMember("Late"), testkit.ForSessions(class))
		testkit.WantReason(t, err, fault.WaitlistFull)
	}
	h.WantSound()
}

func TestJoinWaitlist_RejectsWhenClosed(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class, _, _ := h.AddFullSession(1)
	h.SetRules(func(s *waitlist.Settings) { s.Enabled = new(false) })
	_, err := h.Join(h.AddMember("Mia"), testkit.ForSessions(class))
	testkit.WantReason(t, err, fault.WaitlistClosed)
	_, err = h.Join(h.AddMember("Mia"), h.ForWindow("2026-03-25", "2026-03-25", "08:00", "12:00"))
	testkit.WantReason(t, err, fault.WaitlistClosed)
}

func TestPositions_FollowTheOrderOfTheRules(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class, _, _ := h.AddFullSession(1)
	who, ids := h.AddWaiters(3, testkit.ForSessions(class))
	h.SetTier(who[2], "gold")
	positions := func() string {
		return fmt.Sprint(h.Entry(ids[0]).Position, h.Entry(ids[1]).Position, h.Entry(ids[2]).Position)
	}
	if got := positions(); got != "1 2 3" {
		t.Errorf("by joining: %s", got)
	}
	h.SetRules(func(s *waitlist.Settings) {
		s.Order, s.TierBonus = new(waitlist.ByPriority), &map[string]int{"gold": 20}
	})
	if got := positions(); got != "2 3 1" {
		t.Errorf("by priority: %s", got)
	}
	if _, err := h.App.Waitlists.SetPriority(
		context.Background(), h.Owner, ids[1], waitlists.PriorityEdit{Flagged: new(true)},
	); err != nil {
		t.Fatal(err)
	}
	if got := positions(); got != "3 1 2" {
		t.Errorf("with a flag: %s", got)
	}
	if e, err := h.App.Waitlists.LeaveWaitlist(
		context.Background(), testkit.SelfOnly(who[1]), ids[1], "", false,
	); err != nil || e.Status != waitlist.Cancelled || e.Position != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	if got := positions(); got != "2 0 1" {
		t.Errorf("after one left: %s", got)
	}
	for range 2 {
		if _, err := h.App.Waitlists.LeaveWaitlist(
			context.Background(), testkit.SelfOnly(who[1]), ids[1], "", false,
		); err != nil {
			t.Errorf("leaving again: %v", err)
		}
	}
	_, err := h.App.Waitlists.LeaveWaitlist(context.Background(), testkit.SelfOnly(who[0]), ids[2], "", false)
	testkit.WantReason(t, err, fault.EntryNotFound)
	h.WantSound()
}

func TestJoinWaitlist_HappensOncePerExternalReference(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class, _, _ := h.AddFullSession(1)
	mia := h.AddMember("Mia")
	for name, ask := range map[string]waitlists.JoinRequest{
		"a session": testkit.ForSessions(class),
		// It began yesterday; what is asked for is the same however late it is asked again.
		"a window": h.ForWindow("2026-03-15", "2026-03-16", "00:00", "23:59"),
	} {
		ask.ExternalRef = "ref of " + name
		first := h.MustJoin(mia, ask)
		again, err := h.Join(mia, ask)
		if err != nil || !again.Repeated || again.Entry.ID != first.ID {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
		ask.Party = 2
		_, err = h.Join(mia, ask)
		testkit.WantReason(t, err, fault.ExternalRefConflict)
	}
	h.WantSound()
}

// Whoever wishes for any of several has a place in each queue, and gives all of them up on winning one.
func TestEntry_BookingOneSessionEndsTheOthers(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	one, _, _ := h.AddFullSession(1)
	two, who, booked := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)))
	mia := h.AddMember("Mia")
	id := h.MustJoin(mia, testkit.ForSessions(one, two)).ID
	if got := h.Text(
		`select string_agg(waiting::text, ' ') from sessions where id = any($1)`, []tenant.SessionID{one, two},
	); got != "1 1" {
		t.Errorf("waiting %s", got)
	}
	h.MustCancel(who[0], booked[0])
	h.WantEntries(map[tenant.EntryID]waitlist.Status{id: waitlist.Booked})
	if n := h.Count(`select count(*) from waitlist_places`); n != 0 {
		t.Errorf("%d places are left", n)
	}
	h.WantSound()
}

// A wish for any of several goes with the last of them.
func TestEntry_EndsWithItsLastSession(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	one, _, _ := h.AddFullSession(1)
	two, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)))
	id := h.MustJoin(h.AddMember("Mia"), testkit.ForSessions(one, two)).ID
	for i, class := range []tenant.SessionID{one, two} {
		if _, err := h.App.Schedules.CancelSession(context.Background(), h.Owner, class, "", false); err != nil {
			t.Fatal(err)
		}
		h.WantEntries(map[tenant.EntryID]waitlist.Status{id: []waitlist.Status{waitlist.Waiting, waitlist.Cancelled}[i]})
		h.WantSound()
	}
}

// Windows are days and times at the location: over midnight, and on the Sunday on which its clocks skip an hour.
func TestTimeWindow_UsesTheLocationsZone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, until, earliest, latest string
		starts                        time.Time
		fits                          bool
	}{
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			id := h.MustJoin(h.AddMember("Mia"), h.ForWindow(tt.from, tt.until, tt.earliest, tt.latest)).ID
			h.CreateSession(h.SessionInput(tt.starts), true)
			if got := h.Entry(id).Status == waitlist.Booked; got != tt.fits {
				t.Errorf("fits: %v", got)
			}
			h.WantSound()
		})
	}
}

// Queues follow a session to another day.
func TestQueue_MovesWithItsSession(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(2)
	other, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(50*time.Hour)))
	_, ids := h.AddWaiters(2, testkit.ForSessions(class))
	both := h.MustJoin(h.AddMember("Both"), testkit.ForSessions(class, other)).ID
	h.MustCancel(who[0], booked[0])
	shift(h, class, testkit.Noon.Add(96*time.Hour))
	if got := h.Text(
		`select string_agg(local_date || ' ' || waiting, ', ' order by local_date) from waitlist_queues`,
	); got != "2026-03-18 1, 2026-03-20 3" {
		t.Error(got)
	}
	// The offer was for another time, and is made again for this one.
	offers := h.Offers(class)
	if len(offers) != 2 || h.LiveOffer(ids[0]).ExpiresAt.IsZero() {
		t.Errorf("%+v", offers)
	}
	if e := h.Entry(ids[0]); e.Tries != 1 {
		t.Errorf("%d tries count", e.Tries)
	}
	h.MustCancel(who[1], booked[1])
	h.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Offered, ids[1]: waitlist.Offered, both: waitlist.Waiting,
	})
	h.WantSound()
}

// Staff join for members, through channels of their own and past their credits.
func TestJoinWaitlist_StaffJoinForMembers(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class, who, booked := h.AddFullSession(1)
	mia := h.AddMember("Mia")
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
	h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
	_, err := h.Join(mia, testkit.ForSessions(class))
	testkit.WantReason(t, err, fault.NoCredits)
	place, err := h.App.Waitlists.JoinWaitlist(context.Background(), h.Owner, waitlists.JoinRequest{
		Member: mia.Member, Sessions: []tenant.SessionID{class}, Party: 1, Channel: catalog.Phone,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.MustCancel(who[0], booked[0])
	h.WantEntries(map[tenant.EntryID]waitlist.Status{place.Entry.ID: waitlist.Booked})
	h.WantSound()
}

// A seat that is not what somebody wishes for passes them by, and they wait for the next that is.
func TestEntry_IsOfferedWhatItNames(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		seats int // of the second of two full sessions; the first has one
		// names says in the wish what the second session has, and the first has not.
		names  func(h *testkit.Studio, wish *waitlists.JoinRequest, other, this tenant.SessionID)
		reason string
	}{
		"somebody on the staff": {1, func(h *testkit.Studio, wish *waitlists.JoinRequest, other, this tenant.SessionID) {
			h.EditSession(other, session.Input{Coach: h.Owner.Member}, session.CoachField)
			h.EditSession(this, session.Input{Coach: h.Coach.Member}, session.CoachField)
			wish.Coach = h.Coach.Member
		}, waitlist.OtherStaff},
		"a session that somebody leads, where nobody leads the other": {1,
			func(h *testkit.Studio, wish *waitlists.JoinRequest, _, this tenant.SessionID) {
				h.EditSession(this, session.Input{Coach: h.Coach.Member}, session.CoachField)
				wish.Coach = h.Coach.Member
			}, waitlist.OtherStaff},
		"a court": {1, func(h *testkit.Studio, wish *waitlists.JoinRequest, other, this tenant.SessionID) {
			for _, id := range []tenant.SessionID{other, this} {
				wish.Window.Resource = h.AddResource(catalog.Resource{Name: "Court " + id.String()})
				h.EditSession(id, session.Input{Resource: wish.Window.Resource}, session.ResourceField)
			}
		}, waitlist.OtherResource},
		"a time of day": {1, func(_ *testkit.Studio, wish *waitlists.JoinRequest, _, _ tenant.SessionID) {
			wish.Window.Earliest, wish.Window.Latest = civil.MustParseTimeOfDay("17:00"), civil.MustParseTimeOfDay("18:00")
		}, waitlist.OtherTime},
		"fewer seats than a party needs": {2, func(_ *testkit.Studio, wish *waitlists.JoinRequest, _, _ tenant.SessionID) {
			wish.Party = 2
		}, string(fault.PartySize)},
		"who may have it": {1, func(h *testkit.Studio, _ *waitlists.JoinRequest, _, _ tenant.SessionID) {
			edit(h, func(s *waitlist.Settings) { s.EligibilityExpression = new(`slot.time > "16:00"`) })
		}, waitlist.NotEligible},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			// at 13:00 in Berlin
			other, others, bookedOther := h.AddFullSession(1)
			this, holders, booked := h.AddFullSession(tt.seats, testkit.StartingAt(testkit.Noon.Add(52*time.Hour))) // at 17:00
			wish := h.ForWindow("2026-03-18", "2026-03-18", "06:00", "22:00")
			tt.names(h, &wish, other, this)
			mia := h.MustJoin(h.AddMember("Mia"), wish)
			h.MustCancel(others[0], bookedOther[0])
			if e := h.Entry(mia.ID); e.Status != waitlist.Waiting || e.PassedOver != tt.reason {
				t.Errorf("she is %s, passed over for %q", e.Status, e.PassedOver)
			}
			for i, id := range booked {
				h.MustCancel(holders[i], id)
			}
			if o := h.LiveOffer(mia.ID); o.Session != this {
				t.Errorf("%+v", o)
			}
			h.WantSound()
			wantDecisionsFollow(h, t)
		})
	}
}

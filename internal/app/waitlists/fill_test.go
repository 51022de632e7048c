package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// ways are all the ways in which seats become free, each with what it takes to make it happen. It gives the session.
var ways = map[string]struct {
	by   waitlist.Trigger
	mode waitlist.Mode // offers in turn, unless it says otherwise
	left bool          // no waiting entry fits the seats
	free func(studio *testkit.Studio) tenant.SessionID
}{
	"a member cancels": {by: waitlist.ByCancellation, free: func(studio *testkit.Studio) tenant.SessionID {
		class, who, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		studio.MustCancel(who[0], booked[0])
		return class
	}},
	"staff cancel": {by: waitlist.ByCancellation, free: func(studio *testkit.Studio) tenant.SessionID {
		class, _, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
			context.Background(), studio.Owner, bookings.CancelRequest{ID: booked[0], OverrideWindow: true},
		))
		return class
	}},
	"a booking from an offer is cancelled": {by: waitlist.ByCancellation,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class, who, booked := studio.AddFullSession(1)
			waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
			studio.MustCancel(who[0], booked[0])
			answered := expect.Value(studio.Accept(waiters[0], studio.LiveOffer(entries[0])))(studio.T)
			studio.MustCancel(waiters[0], answered.Booking.ID)
			return class
		}},
	"a booking moves away": {by: waitlist.ByReschedule, free: func(studio *testkit.Studio) tenant.SessionID {
		class, who, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		expect.OK(studio.T)(studio.Reschedule(
			testkit.SelfOnly(who[0]), booked[0], studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}),
		))
		return class
	}},
	"a party does not come": {by: waitlist.ByNoShow, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.SetRules(
			func(s *waitlist.Settings) { s.Mode, s.FillAfterStart = new(waitlist.OfferInTurn), new(30*time.Minute) },
		)
		class, _, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		studio.Clock.Set(testkit.Noon.Add(48*time.Hour + 10*time.Minute))
		expect.OK(studio.T)(studio.App.Bookings.MarkNoShow(context.Background(), studio.Coach, booked[0]))
		return class
	}},
	"a hold runs out, and the alarm notices": {by: waitlist.ByExpiredHold,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class := held(studio, 1)
			studio.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			expect.OK(studio.T)(studio.App.Housekeeping.ExpireDue(context.Background(), studio.Tenant))
			return class
		}},
	"a hold runs out, and the sweep notices": {by: waitlist.ByExpiredHold,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class := held(studio, 1)
			studio.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			test.EqOp(studio.T, housekeeping.SweepResult{Holds: 1}, studio.Sweep())
			return class
		}},
	"a hold runs out, and the next who asks notices": {by: waitlist.ByExpiredHold,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class := held(studio, 1)
			studio.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			p := expect.Value(studio.Book(studio.AddMember("Late"), class))(studio.T)
			must.NotNil(studio.T, p.Entry, must.Sprintf("%+v", p))
			return class
		}},
	"a hold runs out, and the next who joins notices": {by: waitlist.ByExpiredHold,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class := held(studio, 1)
			studio.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			studio.MustJoin(studio.AddMember("Late"), testkit.ForSessions(class))
			return class
		}},
	"a hold runs out, and a booking that moves in notices": {by: waitlist.ByExpiredHold,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class := held(studio, 2)
			studio.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			who := studio.AddMember("Mover")
			id := studio.MustBook(who, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
			expect.OK(studio.T)(studio.Reschedule(testkit.SelfOnly(who), id, class))
			return class
		}},
	"a hold is given up":                  {by: waitlist.ByRelease, free: release(0)},
	"a hold is given up after it ran out": {by: waitlist.ByExpiredHold, free: release(11 * time.Minute)},
	"a session gets more seats": {by: waitlist.ByCapacity, free: func(studio *testkit.Studio) tenant.SessionID {
		class, _, _ := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		resize(studio, class, 2)
		return class
	}},
	"a session gets fewer seats than are offered": {by: waitlist.ByWithdrawal,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class, _, _ := studio.AddFullSession(1)
			studio.MustJoin(studio.AddMember("Large"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
			studio.AddWaiters(1, testkit.ForSessions(class))
			resize(studio, class, 3)
			studio.Tick()
			resize(studio, class, 2)
			return class
		}},
	"a series gets fewer seats than are offered": {by: waitlist.ByWithdrawal,
		free: func(studio *testkit.Studio) tenant.SessionID {
			in := studio.SeriesInput()
			in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
			series, ids := studio.CreateSeries(in)
			studio.MustBook(studio.AddMember("Holder"), ids[1])
			studio.MustJoin(studio.AddMember("Large"), waitlists.JoinRequest{Sessions: ids[1:2], Party: 2})
			studio.AddWaiters(1, testkit.ForSessions(ids[1]))
			for _, seats := range []int{3, 2} {
				studio.Tick()
				studio.EditSeries(schedules.SeriesEdit{
					Series: series.ID, Scope: schedules.All, Template: session.Input{Capacity: &seats}, Fields: session.CapacityField,
				})
			}
			return ids[1]
		}},
	"a series gets more seats": {by: waitlist.ByCapacity, free: func(studio *testkit.Studio) tenant.SessionID {
		in := studio.SeriesInput()
		in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
		series, ids := studio.CreateSeries(in)
		studio.MustBook(studio.AddMember("Holder"), ids[1])
		studio.AddWaiters(1, testkit.ForSessions(ids[1]))
		studio.EditSeries(schedules.SeriesEdit{
			Series: series.ID, Scope: schedules.All, Template: session.Input{Capacity: new(2)}, Fields: session.CapacityField,
		})
		return ids[1]
	}},
	"one of a series gets more seats": {by: waitlist.ByCapacity, free: func(studio *testkit.Studio) tenant.SessionID {
		in := studio.SeriesInput()
		in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
		series, ids := studio.CreateSeries(in)
		studio.MustBook(studio.AddMember("Holder"), ids[1])
		studio.AddWaiters(1, testkit.ForSessions(ids[1]))
		studio.EditSeries(schedules.SeriesEdit{
			Series: series.ID, Session: ids[1], Scope: schedules.One, Template: session.Input{Capacity: new(2)},
			Fields: session.CapacityField,
		})
		return ids[1]
	}},
	"a session goes on sale": {by: waitlist.ByPublish, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.AddWaiters(1, week(studio))
		class := studio.AddSession(testkit.Session{Starts: testkit.Evening, State: catalog.Draft})
		expect.OK(studio.T)(studio.App.Schedules.PublishSession(context.Background(), studio.Owner, class, nil))
		return class
	}},
	"a session is made on sale": {by: waitlist.ByPublish, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.AddWaiters(1, week(studio))
		return studio.CreateSession(studio.SessionInput(testkit.Evening), true).ID
	}},
	"many sessions go on sale": {by: waitlist.ByPublish, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.AddWaiters(1, week(studio))
		class := studio.AddSession(testkit.Session{Starts: testkit.Evening, State: catalog.Draft})
		expect.OK(studio.T)(studio.App.Schedules.BulkPublishSessions(
			context.Background(), studio.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter()}))
		return class
	}},
	"a series is made": {by: waitlist.ByPublish, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.AddWaiters(1, week(studio))
		_, ids := studio.CreateSeries(studio.SeriesInput())
		return ids[0]
	}},
	"a series goes on": {by: waitlist.ByPublish, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AdvanceWindow = new(730 * 24 * time.Hour) })
		series := studio.CreateEndlessSeries("FREQ=WEEKLY")
		last := studio.Text(`select max(local_date)::text from sessions where series_id = $1`, series.ID)
		next := civiltest.Date(last).AddDays(7).String()
		studio.Clock.Set(testkit.Noon.Add(60 * 24 * time.Hour))
		studio.AddWaiters(1, studio.ForWindow(next, next, "00:00", "23:59"))
		studio.Sweep()
		return sessionOn(studio, next)
	}},
	"a series gets another day": {by: waitlist.ByPublish, free: func(studio *testkit.Studio) tenant.SessionID {
		series, _ := studio.CreateSeries(studio.SeriesInput())
		studio.AddWaiters(1, studio.ForWindow("2026-03-18", "2026-03-18", "00:00", "23:59"))
		studio.EditSeries(schedules.SeriesEdit{
			Series: series.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,WE,TH;COUNT=9"},
			PatternFields: session.RuleField,
		})
		return sessionOn(studio, "2026-03-18")
	}},
	"sessions are imported": {by: waitlist.ByPublish, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.AddWaiters(1, week(studio))
		return studio.ImportSessions(
			testkit.ImportHeader+"Vinyasa,Pier 1,2026-03-18,18:00,,60,,,2,3,,,published\n", false,
		).Sessions[0]
	}},
	"a session is back on sale": {by: waitlist.ByUnblock, free: func(studio *testkit.Studio) tenant.SessionID {
		class, who, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		expect.OK(studio.T)(studio.App.Schedules.BlockSession(context.Background(), studio.Owner, class, ""))
		studio.MustCancel(who[0], booked[0])
		n := len(studio.Decisions(class))
		test.EqOp(studio.T, 0, n, test.Sprintf("%d decisions about a session that is off sale", n))
		expect.OK(studio.T)(studio.App.Schedules.UnblockSession(context.Background(), studio.Owner, class))
		return class
	}},
	"a session moves into a time window": {by: waitlist.ByMove, free: func(studio *testkit.Studio) tenant.SessionID {
		class := studio.AddSession(testkit.Session{})
		studio.AddWaiters(1, studio.ForWindow("2026-03-20", "2026-03-20", "00:00", "23:59"))
		shift(studio, class, testkit.Noon.Add(96*time.Hour))
		return class
	}},
	"an offer is declined": {by: waitlist.ByDecline, free: func(studio *testkit.Studio) tenant.SessionID {
		class, waiters, o := offered(studio)
		expect.OK(studio.T)(studio.Decline(waiters[0], o, false))
		return class
	}},
	"an offer runs out": {by: waitlist.ByExpiry, free: func(studio *testkit.Studio) tenant.SessionID {
		class, _, o := offered(studio)
		studio.Clock.Set(o.ExpiresAt)
		expect.OK(studio.T)(studio.App.Housekeeping.ExpireDue(context.Background(), studio.Tenant))
		return class
	}},
	"staff end an offer": {by: waitlist.ByExpiry, free: func(studio *testkit.Studio) tenant.SessionID {
		class, _, o := offered(studio)
		studio.Tick()
		expect.OK(studio.T)(studio.App.Waitlists.ExpireWaitlistOffer(context.Background(), studio.Owner, o.ID, ""))
		return class
	}},
	"an entry with an offer leaves": {by: waitlist.ByWithdrawal, free: func(studio *testkit.Studio) tenant.SessionID {
		class, waiters, o := offered(studio)
		studio.Tick()
		expect.OK(studio.T)(studio.App.Waitlists.LeaveWaitlist(
			context.Background(), testkit.SelfOnly(waiters[0]), o.Entry, "", false,
		))
		return class
	}},
	"the session that an entry with an offer waited for is cancelled": {by: waitlist.ByWithdrawal,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class, who, booked := studio.AddFullSession(1)
			other, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(50*time.Hour)))
			_, waiting := studio.AddWaiters(1, testkit.ForSessions(other))
			studio.MustCancel(who[0], booked[0])
			expect.OK(studio.T)(studio.App.Waitlists.CreateWaitlistOffer(
				context.Background(), studio.Owner, waitlists.OfferRequest{Session: class, Entry: waiting[0]},
			))
			studio.AddWaiters(1, testkit.ForSessions(class))
			studio.Tick()
			expect.OK(studio.T)(studio.App.Schedules.CancelSession(
				context.Background(), studio.Owner, other, schedules.Removal{},
			))
			return class
		}},
	"a party claims fewer seats than were free": {by: waitlist.ByWithdrawal, mode: waitlist.FirstToClaim, left: true,
		free: func(studio *testkit.Studio) tenant.SessionID {
			class, who, booked := studio.AddFullSession(2)
			large, small := studio.AddMember("Large"), studio.AddMember("Small")
			studio.MustJoin(large, waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
			id := studio.MustJoin(small, testkit.ForSessions(class)).ID
			studio.Block(class)
			studio.MustCancel(who[0], booked[0])
			studio.MustCancel(who[1], booked[1])
			expect.OK(studio.T)(studio.App.Schedules.UnblockSession(context.Background(), studio.Owner, class))
			expect.OK(studio.T)(studio.Accept(small, studio.LiveOffer(id)))
			return class
		}},
	"the rules allow an entry": {by: waitlist.ByRules, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.SetRules(func(s *waitlist.Settings) { s.EligibilityExpression = new(`member.tier == "gold"`) })
		class, who, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		studio.MustCancel(who[0], booked[0])
		edit(studio, func(s *waitlist.Settings) { s.EligibilityExpression = new("") })
		return class
	}},
	"the rules are in force again": {by: waitlist.ByRules, free: func(studio *testkit.Studio) tenant.SessionID {
		class, who, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		edit(studio, func(s *waitlist.Settings) { s.Enabled = new(false) })
		studio.MustCancel(who[0], booked[0])
		n := len(studio.Decisions(class))
		test.EqOp(studio.T, 0, n, test.Sprintf("%d decisions without a waitlist", n))
		edit(studio, func(s *waitlist.Settings) { s.Enabled = nil })
		return class
	}},
	"the rules let more be asked": {by: waitlist.ByRules, free: func(studio *testkit.Studio) tenant.SessionID {
		studio.SetRules(func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(1) })
		class, waiters, o := offered(studio)
		expect.OK(studio.T)(studio.Decline(waiters[0], o, false))
		edit(studio, func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(2) })
		return class
	}},
	"the rules let windows reach further": {by: waitlist.ByRules, free: func(studio *testkit.Studio) tenant.SessionID {
		class := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(48 * time.Hour)}) // at 13:00
		studio.AddWaiters(1, studio.ForWindow("2026-03-18", "2026-03-18", "10:00", "11:00"))
		edit(studio, func(s *waitlist.Settings) { s.TimeFlexibility = new(2 * time.Hour) })
		return class
	}},
	"a fill was missed": {by: waitlist.BySweep, free: func(studio *testkit.Studio) tenant.SessionID {
		class, _, booked := studio.AddFullSession(1)
		studio.AddWaiters(1, testkit.ForSessions(class))
		cancelUnnoticed(studio, booked[0])
		test.EqOp(studio.T, 1, studio.Sweep().Mended)
		return class
	}},
}

func TestFill_RunsForEveryTrigger(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			if way.mode == "" {
				way.mode = waitlist.OfferInTurn
			}
			studio.SetMode(way.mode)
			last := studio.LastDecision(way.free(studio))
			test.EqOp(t, way.by, last.Case.Trigger)
			test.EqOp(t, way.left, last.Decision.Given == 0, test.Sprintf("%+v", last.Decision))
			wantDecisionsFollow(studio, t)
			test.EqOp(t, 0, studio.Sweep().Mended)
		})
	}
}

// edit is rules a moment later.
func edit(studio *testkit.Studio, change func(*waitlist.Settings)) {
	studio.T.Helper()
	studio.Tick()
	studio.SetRules(change)
}

// release returns a way in which a hold is given up, some time after it began.
func release(after time.Duration) func(*testkit.Studio) tenant.SessionID {
	return func(studio *testkit.Studio) tenant.SessionID {
		class, who := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 9}), studio.AddMember("Holder")
		held := studio.MustHold(who, class)
		studio.AddWaiters(1, testkit.ForSessions(class))
		studio.Clock.Set(testkit.Noon.Add(after))
		expect.OK(studio.T)(studio.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(who), held.ID))
		return class
	}
}

// held creates a session of which all seats are held, with an entry that waits.
func held(studio *testkit.Studio, seats int) tenant.SessionID {
	studio.T.Helper()
	class := studio.AddSession(testkit.Session{Capacity: seats, Waitlist: 9})
	for range seats {
		studio.MustHold(studio.AddMember("Holder"), class)
	}
	studio.AddWaiters(1, testkit.ForSessions(class))
	return class
}

// offered is a session whose one seat is offered to the first of two who wait.
func offered(studio *testkit.Studio) (tenant.SessionID, []tenant.Caller, waitlist.Offer) {
	studio.T.Helper()
	class, who, booked := studio.AddFullSession(1)
	waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
	studio.MustCancel(who[0], booked[0])
	return class, waiters, studio.LiveOffer(entries[0])
}

func resize(studio *testkit.Studio, id tenant.SessionID, seats int) {
	studio.T.Helper()
	expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
		context.Background(), studio.Owner, id, nil, session.Input{Capacity: &seats}, session.CapacityField,
	))
}

// shift moves a session of an hour to another time.
func shift(studio *testkit.Studio, id tenant.SessionID, to time.Time) {
	studio.T.Helper()
	in := session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}
	expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
		context.Background(), studio.Owner, id, nil, in, session.StartField|session.EndField,
	))
}

// week wishes for anything in the week of the tests.
func week(studio *testkit.Studio) waitlists.JoinRequest {
	return studio.ForWindow("2026-03-16", "2026-03-22", "00:00", "23:59")
}

func sessionOn(studio *testkit.Studio, day string) tenant.SessionID {
	studio.T.Helper()
	return expect.Value(tenant.Parse[tenant.SessionID](
		studio.Text(`select id::text from sessions where tenant_id = $1 and local_date = $2::text::date`, studio.Tenant, day),
	))(studio.T)
}

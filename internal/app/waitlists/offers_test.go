package waitlists_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestAcceptOffer_BooksAndChargesACredit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(1)
	mia := studio.AddMember("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	id := studio.MustJoin(mia, testkit.ForSessions(class)).ID
	studio.MustCancel(who[0], booked[0])
	test.EqOp(t, 3, studio.Balance(pack),
		test.Sprintf("an offer takes no credit, and a seat: %d, %d", studio.Balance(pack), studio.SeatsTaken(class)))
	test.EqOp(t, 1, studio.SeatsTaken(class),
		test.Sprintf("an offer takes no credit, and a seat: %d, %d", studio.Balance(pack), studio.SeatsTaken(class)))
	// No one else can get it.
	expect.Reason(t, fault.SessionFull)(studio.App.Bookings.Book(
		context.Background(), studio.AddMember("Eve"),
		bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, RefuseFull: true},
	))
	expect.Reason(t, fault.SessionFull)(studio.Hold(studio.AddMember("Eve"), class))
	_, err := studio.App.Schedules.UnpublishSession(context.Background(), studio.Owner, class, nil)
	test.Error(t, err, test.Sprint("a session with a live offer went back to a draft"))
	o := studio.LiveOffer(id)
	expect.Reason(t, fault.WaitlistOfferNotFound)(studio.Accept(studio.AddMember("Eve"), o))
	studio.SetPolicy(func(p *catalog.PolicyLayer) {
		p.AdvanceWindow = new(time.Hour)
	}) // for those who are not in the queue yet
	first := expect.Value(studio.Accept(mia, o))(t)
	must.False(t, first.Repeated, must.Sprintf("%+v", first))
	must.EqOp(t, "CONFIRMED", first.Booking.Status)
	must.EqOp(t, pack.ID, first.Booking.Subscription)
	again := expect.Value(studio.Accept(mia, o))(t)
	test.True(t, again.Repeated, test.Sprintf("%+v", again))
	test.EqOp(t, first.Booking.ID, again.Booking.ID)
	expect.Reason(t, fault.WaitlistOfferNotLive)(studio.Decline(mia, o, false))
	test.EqOp(t, 2, studio.Balance(pack), test.Sprintf("balance %d", studio.Balance(pack)))
	test.EqOp(t, first.Booking.ID, studio.Entry(id).Booking, test.Sprintf("balance %d", studio.Balance(pack)))
}

// What a booking refuses an acceptance refuses, with the same reason. The offer stays live, and its seat kept.
func TestAcceptOffer_KeepsOfferIfBookingIsRejected(t *testing.T) {
	t.Parallel()
	type row struct {
		plan  credit.Plan
		spoil func(studio *testkit.Studio, mia tenant.Caller, s credit.Subscription, class tenant.SessionID)
		want  fault.Reason
	}
	testkit.Each(t, map[string]row{
		"no credits": {credit.Plan{Kind: credit.Credits, Credits: 1},
			func(studio *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
			}, fault.NoCredits},
		"overlap": {credit.Plan{Kind: credit.Unlimited},
			func(studio *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				studio.MustBook(mia, studio.AddSession(testkit.Session{}))
			}, fault.Overlap},
		"daily limit": {credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1)},
			func(studio *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(52 * time.Hour)}))
			}, fault.DailyLimit},
		"paused": {credit.Plan{Kind: credit.Unlimited},
			func(studio *testkit.Studio, _ tenant.Caller, s credit.Subscription, _ tenant.SessionID) {
				studio.TakePayments()
				expect.OK(studio.T)(
					studio.App.Accounts.SetSubscriptionStatus(context.Background(), studio.Owner, s.ID, credit.Paused, ""),
				)
			}, fault.NoActivePlan},
		"booked since": {credit.Plan{Kind: credit.Unlimited, AllowOverlap: true},
			func(studio *testkit.Studio, mia tenant.Caller, _ credit.Subscription, class tenant.SessionID) {
				// Damaged data: a member cannot book a session for which they wait.
				studio.Exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at,
					ends_at, created_by, created_at, updated_at, confirmed_at)
			        select tenant_id, gen_random_uuid(), id, $2, 1, 'CONFIRMED', 'ONLINE', starts_at, ends_at, 'test', $3, $3,
			$3 from sessions where id = $1`, class, mia.Member, testkit.Noon)
				studio.Exec(`update sessions set capacity = 2, seats_taken = 2 where id = $1`, class)
			}, fault.AlreadyBooked},
		"no longer a member": {credit.Plan{Kind: credit.Unlimited},
			func(studio *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				studio.Deactivate(mia)
			}, fault.MemberNotFound},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetMode(waitlist.OfferInTurn)
		class, who, booked := studio.AddFullSession(1)
		mia := studio.AddMember("Mia")
		s := studio.Subscribe(mia, studio.AddPlan(tt.plan))
		id := studio.MustJoin(mia, testkit.ForSessions(class)).ID
		studio.MustCancel(who[0], booked[0])
		tt.spoil(studio, mia, s, class)
		taken := studio.SeatsTaken(class)
		expect.Reason(studio.T, tt.want)(studio.Accept(mia, studio.LiveOffer(id)))
		o := studio.LiveOffer(id)
		test.EqOp(studio.T, waitlist.Live, o.Status,
			test.Sprintf("%+v, %d seats are taken", o, studio.SeatsTaken(class)))
		test.EqOp(studio.T, taken, studio.SeatsTaken(class),
			test.Sprintf("%+v, %d seats are taken", o, studio.SeatsTaken(class)))
	})
}

func TestDeclineOffer_OffersToTheNext(t *testing.T) {
	t.Parallel()
	type row struct {
		after waitlist.After
		most  int
		leave bool
		want  waitlist.Status
	}
	testkit.Each(t, map[string]row{
		"goes back in line":        {waitlist.ReturnEntry, 3, false, waitlist.Waiting},
		"closes, if rules say so":  {waitlist.CloseEntry, 3, false, waitlist.Cancelled},
		"closes after the last":    {waitlist.ReturnEntry, 1, false, waitlist.Cancelled},
		"leaves, if they want to":  {waitlist.ReturnEntry, 3, true, waitlist.Cancelled},
		"goes back without a most": {waitlist.ReturnEntry, 0, false, waitlist.Waiting},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetRules(func(s *waitlist.Settings) {
			s.Mode, s.AfterDecline, s.MaxOffersPerEntry = new(waitlist.OfferInTurn), &tt.after, &tt.most
		})
		class, waiters, o := offered(studio)
		for i := range 2 {
			answered := expect.Value(studio.Decline(waiters[0], o, tt.leave))(studio.T)
			test.EqOp(studio.T, (i == 1), answered.Repeated)
			test.EqOp(studio.T, tt.want, answered.Entry.Status)
		}
		offers := studio.Offers(class)
		must.SliceLen(studio.T, 2, offers)
		must.EqOp(studio.T, waitlist.Declined, offers[0].Status)
		must.EqOp(studio.T, waitlist.Live, offers[1].Status)
		must.EqOp(studio.T, 2, offers[1].Try)
		// The cascade ends with staff.
		expect.OK(studio.T)(studio.Decline(waiters[1], offers[1], false))
		last := studio.LastDecision(class)
		test.EqOp(studio.T, waitlist.HandBack, last.Decision.Move)
		test.NotEqOp(studio.T, "", last.Note)
		test.EqOp(studio.T, 0, studio.SeatsTaken(class))
	})
}

// An alarm ends an offer when it runs out, and the next is asked.
func TestOffers_ExpireByAlarm(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, waiters, o := offered(studio)
	want := studio.Clock.Now().Add(30 * time.Minute)
	test.True(t, o.ExpiresAt.Equal(want.Truncate(time.Microsecond)),
		test.Sprintf("it ends at %s, want %s", o.ExpiresAt, want))
	studio.Clock.Set(o.ExpiresAt.Add(-time.Millisecond)) // the alarm waits for the rest of real time
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		studio.App.Housekeeping.RunAlarms(ctx, slog.New(slog.DiscardHandler))
	}()
	studio.Clock.Set(o.ExpiresAt)
	expect.Reason(t, fault.WaitlistOfferNotLive)(studio.Accept(waiters[0], o))
	testkit.Eventually(t, "the offer ends", func() bool {
		return studio.Count(`select count(*) from waitlist_offers where session_id = $1`, class) == 2
	})
	stop()
	<-done
}

func TestOffers_AreWithdrawnWithTheirSeats(t *testing.T) {
	t.Parallel()
	type row struct {
		act   func(studio *testkit.Studio, class tenant.SessionID) error
		entry waitlist.Status
		taken int
	}
	testkit.Each(t, map[string]row{
		"with the session's sale": {func(studio *testkit.Studio, class tenant.SessionID) error {
			s, err := studio.App.Schedules.BlockSession(t.Context(), studio.Owner, class, "")
			test.EqOp(studio.T, 1, s.SeatsTaken, test.Sprintf("the answer says that %d seats are taken", s.SeatsTaken))
			return err
		}, waitlist.Waiting, 1},
		"with the session": {func(studio *testkit.Studio, class tenant.SessionID) error {
			return expect.Error(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, class, schedules.Removal{}))
		}, waitlist.Cancelled, 0},
		"with their seats": {func(
			studio *testkit.Studio, class tenant.SessionID,
		) error {
			resize(studio, class, 1)
			return nil
		}, waitlist.Waiting, 1},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetMode(waitlist.OfferInTurn)
		class, who, booked := studio.AddFullSession(2)
		_, entries := studio.AddWaiters(1, testkit.ForSessions(class))
		studio.MustCancel(who[0], booked[0])
		must.NoError(studio.T, tt.act(studio, class))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: tt.entry})
		offers := studio.Offers(class)
		must.SliceLen(studio.T, 1, offers, must.Sprintf("%+v, %d seats are taken", offers, studio.SeatsTaken(class)))
		test.EqOp(studio.T, waitlist.Withdrawn, offers[0].Status,
			test.Sprintf("%+v, %d seats are taken", offers, studio.SeatsTaken(class)))
		test.EqOp(studio.T, tt.taken, studio.SeatsTaken(class),
			test.Sprintf("%+v, %d seats are taken", offers, studio.SeatsTaken(class)))
		test.EqOp(studio.T, 0, studio.Entry(entries[0]).Tries,
			test.Sprintf("%+v, %d seats are taken", offers, studio.SeatsTaken(class)))
	})
}

// Seats that are only offered make way for a smaller capacity, the youngest offers first and no more of them than it
// takes. Those that are booked or held do not. One session and all of a series behave alike.
func TestMakeRoom_WithdrawsOffers(t *testing.T) {
	t.Parallel()
	for _, mode := range []waitlist.Mode{waitlist.OfferInTurn, waitlist.FirstToClaim} {
		for _, way := range []string{"a session", "a series"} {
			t.Run(string(mode)+", "+way, func(t *testing.T) {
				t.Parallel()
				studio := testkit.New(t)
				studio.SetMode(mode)
				in := studio.SeriesInput()
				in.Template.Capacity, in.Template.WaitlistCapacity = new(2), new(9)
				series, ids := studio.CreateSeries(in)
				class := ids[1]
				studio.MustBook(studio.AddMember("Booked"), class)
				studio.MustHold(studio.AddMember("Held"), class)
				waiters, entries := studio.AddWaiters(3, testkit.ForSessions(class))
				resize := func(seats int) error {
					studio.Tick()
					edit := session.Input{Capacity: &seats}
					if way == "a session" {
						return expect.Error(studio.App.Schedules.UpdateSession(
							context.Background(), studio.Owner, class, nil, edit, session.CapacityField,
						))
					}
					return expect.Error(studio.App.Schedules.UpdateSeries(
						context.Background(), studio.Owner,
						schedules.SeriesEdit{Series: series.ID, Scope: schedules.All, Template: edit, Fields: session.CapacityField},
					))
				}
				want := func(taken int, statuses ...waitlist.Status) {
					t.Helper()
					for i, id := range entries {
						e := studio.Entry(id)
						test.EqOp(t, statuses[i], e.Status,
							test.Sprintf("entry %d is %s after %d offers, want %s", i, e.Status, e.Tries, statuses[i]))
						test.EqOp(t, (e.Tries == 0), (e.Status == waitlist.Waiting),
							test.Sprintf("entry %d is %s after %d offers, want %s", i, e.Status, e.Tries, statuses[i]))
					}
					test.EqOp(t, taken, studio.SeatsTaken(class), test.Sprintf("seats are taken, want %d", taken))
					studio.WantSound()
				}
				steps, last := []int{3, 4, 5}, waitlist.Waiting // one offer after the other, so that one is the youngest
				if mode == waitlist.FirstToClaim {
					steps, last = []int{5}, waitlist.Offered // they may still claim one of two seats
				}
				for _, seats := range steps {
					must.NoError(t, resize(seats))
				}
				want(5, waitlist.Offered, waitlist.Offered, waitlist.Offered)
				must.NoError(t, resize(4))
				want(4, waitlist.Offered, waitlist.Offered, last)
				expect.Reason(t, fault.CapacityBelowTaken)(resize(1))
				want(4, waitlist.Offered, waitlist.Offered, last) // a refusal takes nothing back
				expect.OK(t)(studio.Accept(waiters[0], studio.LiveOffer(entries[0])))
				expect.Reason(t, fault.CapacityBelowTaken)(resize(2))
				must.NoError(t, resize(3))
				want(3, waitlist.Booked, waitlist.Waiting, waitlist.Waiting)
				o := studio.Offers(class)[1]
				test.EqOp(t, waitlist.FewerSeats, o.Cause, test.Sprintf("%+v", o))
				test.EqOp(t, 0, studio.Sweep().Mended)
			})
		}
	}
}

// Several seats go to several entries at once, parties among them, and no party gets a part of what it needs.
func TestFill_OffersSeveralSeatsToSeveralEntries(t *testing.T) {
	t.Parallel()
	for _, mode := range []waitlist.Mode{waitlist.OfferInTurn, waitlist.AutoPromote} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			studio.SetMode(mode)
			class, _, _ := studio.AddFullSession(1)
			ids := make(map[int]tenant.EntryID)
			for _, party := range []int{2, 4, 1} {
				ids[party] = studio.MustJoin(
					studio.AddMember("Mia"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: party},
				).ID
			}
			resize(studio, class, 4) // three more
			got := map[waitlist.Mode]waitlist.Status{
				waitlist.OfferInTurn: waitlist.Offered, waitlist.AutoPromote: waitlist.Booked,
			}[mode]
			studio.WantEntries(map[tenant.EntryID]waitlist.Status{ids[2]: got, ids[1]: got, ids[4]: waitlist.Waiting})
			e := studio.Entry(ids[4])
			test.EqOp(t, waitlist.VerdictReason(fault.PartySize), e.PassedOver)
			test.EqOp(t, 4, studio.SeatsTaken(class))
		})
	}
}

// Close to the start no entry is promoted without being asked. Before that a promoted member can cancel without
// penalty.
func TestPromotion_EndsBeforeTheStart(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) {
		s.Mode, s.AutoPromoteCutoff = new(waitlist.AutoPromote), new(3*time.Hour)
		s.PromoteAfterCancellationWindow = new(true)
	})
	class, _, booked := studio.AddFullSession(2)
	_, ids := studio.AddWaiters(2, testkit.ForSessions(class))
	studio.Clock.Set(testkit.Noon.Add(45*time.Hour - time.Minute))
	expect.OK(t)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: booked[0], OverrideWindow: true},
	))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{ids[0]: waitlist.Booked})
	test.EqOp(t, "12:00", studio.Text(
		`select to_char(grace_until at time zone 'UTC', 'HH24:MI') from bookings where id = $1`, studio.Entry(ids[0]).Booking,
	), test.Sprint("free until the start, as no one was told"))
	studio.Clock.Set(testkit.Noon.Add(45*time.Hour + time.Minute))
	expect.OK(t)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: booked[1], OverrideWindow: true},
	))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{ids[1]: waitlist.Offered})
}

// The first to claim gets the seat. The seats that are left go to entries that still fit, and to all members if there
// is none.
func TestFirstToClaim_BooksTheFirst(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.FirstToClaim)
	class, _, _ := studio.AddFullSession(1)
	var (
		who []tenant.Caller
		ids []tenant.EntryID
	)
	for _, party := range []int{2, 1, 2} {
		who = append(who, studio.AddMember("Mia"))
		ids = append(
			ids, studio.MustJoin(who[len(who)-1], waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: party}).ID,
		)
	}
	resize(studio, class, 4)
	test.EqOp(t, 4, studio.SeatsTaken(class), test.Sprint("seats are taken or kept, want all"))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Offered, ids[1]: waitlist.Offered, ids[2]: waitlist.Offered,
	})
	expect.OK(t)(studio.Accept(who[2], studio.LiveOffer(ids[2])))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Waiting, ids[1]: waitlist.Offered, ids[2]: waitlist.Booked,
	})
	test.EqOp(t, 4, studio.SeatsTaken(class),
		test.Sprintf("%d seats; it was not theirs to lose", studio.SeatsTaken(class)))
	test.EqOp(t, 0, studio.Entry(ids[0]).Tries,
		test.Sprintf("%d seats; it was not theirs to lose", studio.SeatsTaken(class)))
	studio.WantSound()
	expect.OK(t)(studio.Decline(who[1], studio.LiveOffer(ids[1]), false))
	test.EqOp(t, 3, studio.SeatsTaken(class), test.Sprint("seats are taken, want none kept"))
	studio.WantSound()
	studio.MustBook(studio.AddMember("Zoe"), class)
}

// No more is kept than those who were told can claim.
func TestFirstToClaim_ReservesWhatCanBeClaimed(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.FirstToClaim)
	class, _, _ := studio.AddFullSession(1)
	studio.AddWaiters(1, testkit.ForSessions(class))
	resize(studio, class, 5)
	test.EqOp(t, 2, studio.SeatsTaken(class), test.Sprint("seats are taken or kept"))
	studio.MustBook(studio.AddMember("Zoe"), class)
}

// Open seats that no entry took join the round of seats that are freed later.
func TestRound_AddsSeatsFreedLater(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(3)
	mia := studio.AddMember("Mia")
	first := studio.MustJoin(mia, testkit.ForSessions(class)).ID
	large := studio.MustJoin(
		studio.AddMember("Large"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 3},
	).ID
	for i := range who {
		studio.MustCancel(who[i], booked[i])
	}
	expect.OK(t)(studio.Decline(mia, studio.LiveOffer(first), true))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{large: waitlist.Offered})
}

// Nine holes are a service of their own: an entry for nine gets no offer of eighteen.
func TestTimeWindow_IsForOneService(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	nine := studio.AddService(catalog.Service{Name: "Nine holes", Duration: 2 * time.Hour, MaxParty: 4})
	_, eighteenHolder, eighteenBooked := studio.AddFullSession(1)
	short, nineHolder, nineBooked := studio.AddFullSession(1, func(s *testkit.Session) { s.Service = nine })
	target := studio.ForWindow("2026-03-18", "2026-03-18", "06:00", "22:00")
	target.Window.Service = nine
	noa := studio.MustJoin(studio.AddMember("Noa"), target)
	studio.MustCancel(eighteenHolder[0], eighteenBooked[0])
	test.EqOp(t, waitlist.Waiting, studio.Entry(noa.ID).Status, test.Sprint("asked to play eighteen: she"))
	studio.MustCancel(nineHolder[0], nineBooked[0])
	o := studio.LiveOffer(noa.ID)
	test.EqOp(t, short, o.Session, test.Sprintf("%+v", o))
}

// A link or a message acts as the member to whom the offer was made. It cannot answer the offer of another one.
func TestAnswerAsMember_AnswersOwnOffersOnly(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(1)
	mia, eve := studio.AddMember("Mia"), studio.AddMember("Eve")
	id := studio.MustJoin(mia, testkit.ForSessions(class)).ID
	studio.MustCancel(who[0], booked[0])
	offer := studio.LiveOffer(id)
	for _, accept := range []bool{true, false} {
		expect.Reason(t, fault.WaitlistOfferNotFound)(
			waitlists.AnswerAsMember(studio.App.Waitlists, t.Context(), studio.Tenant, eve.Member, offer.ID, accept),
		)
	}
	answer := expect.Value(
		waitlists.AnswerAsMember(studio.App.Waitlists, t.Context(), studio.Tenant, mia.Member, offer.ID, true),
	)(t)
	must.NotNil(t, answer.Booking)
	test.EqOp(t, mia.Member, answer.Booking.Member)
}

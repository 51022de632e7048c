package waitlists_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

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
)

func TestAcceptOffer_BooksAndChargesACredit(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(1)
	mia := h.AddMember("Mia")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	id := h.MustJoin(mia, testkit.ForSessions(class)).ID
	h.MustCancel(who[0], booked[0])
	if h.Balance(pack) != 3 || h.SeatsTaken(class) != 1 {
		t.Errorf("an offer takes no credit, and a seat: %d, %d", h.Balance(pack), h.SeatsTaken(class))
	}
	// Nobody else can have it.
	_, err := h.App.Bookings.Book(
		context.Background(), h.AddMember("Eve"),
		bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, NoWaitlist: true},
	)
	testkit.WantReason(t, err, fault.SessionFull)
	_, err = h.Hold(h.AddMember("Eve"), class)
	testkit.WantReason(t, err, fault.SessionFull)
	_, err = h.App.Schedules.UnpublishSession(context.Background(), h.Owner, class, nil)
	if err == nil {
		t.Error("a session with a live offer went back to a draft")
	}
	o := h.LiveOffer(id)
	_, err = h.Accept(h.AddMember("Eve"), o)
	testkit.WantReason(t, err, fault.OfferNotFound)
	first, err := h.Accept(mia, o)
	if err != nil || first.Repeated || first.Booking.Status != "CONFIRMED" || first.Booking.Subscription != pack.ID {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := h.Accept(mia, o)
	if err != nil || !again.Repeated || again.Booking.ID != first.Booking.ID {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = h.Decline(mia, o, false)
	testkit.WantReason(t, err, fault.OfferNotLive)
	if h.Balance(pack) != 2 || h.Entry(id).Booking != first.Booking.ID {
		t.Errorf("balance %d", h.Balance(pack))
	}
	h.WantSound()
}

// What a booking refuses an acceptance refuses, with the same reason. The offer stays live, and its seat kept.
func TestAcceptOffer_KeepsOfferIfBookingIsRejected(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plan  credit.Plan
		spoil func(h *testkit.Studio, mia tenant.Caller, s credit.Subscription, class tenant.SessionID)
		want  fault.Reason
	}{
		"no credits": {credit.Plan{Kind: credit.Credits, Credits: 1},
			func(h *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
			}, fault.NoCredits},
		"overlap": {credit.Plan{Kind: credit.Unlimited},
			func(h *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				h.MustBook(mia, h.AddSession(testkit.Session{}))
			}, fault.Overlap},
		"daily limit": {credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1)},
			func(h *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(52 * time.Hour)}))
			}, fault.DailyLimit},
		"paused": {credit.Plan{Kind: credit.Unlimited},
			func(h *testkit.Studio, _ tenant.Caller, s credit.Subscription, _ tenant.SessionID) {
				h.TakePayments()
				_, err := h.App.Accounts.SetSubscriptionStatus(context.Background(), h.Owner, s.ID, credit.Paused, "")
				if err != nil {
					h.T.Fatal(err)
				}
			}, fault.NoActivePlan},
		"booked meanwhile": {credit.Plan{Kind: credit.Unlimited, AllowOverlap: true},
			func(h *testkit.Studio, mia tenant.Caller, _ credit.Subscription, class tenant.SessionID) {
				// Damage: nobody can book a session for which they wait.
				h.Exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at,
					ends_at, created_by, created_at, updated_at, confirmed_at)
			        select tenant_id, gen_random_uuid(), id, $2, 1, 'CONFIRMED', 'ONLINE', starts_at, ends_at, 'test', $3, $3,
			$3 from sessions where id = $1`, class, mia.Member, testkit.Noon)
				h.Exec(`update sessions set capacity = 2, seats_taken = 2 where id = $1`, class)
			}, fault.AlreadyBooked},
		"no longer a member": {credit.Plan{Kind: credit.Unlimited},
			func(h *testkit.Studio, mia tenant.Caller, _ credit.Subscription, _ tenant.SessionID) {
				h.Deactivate(mia)
			}, fault.MemberNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			class, who, booked := h.AddFullSession(1)
			mia := h.AddMember("Mia")
			s := h.Subscribe(mia, h.AddPlan(tt.plan))
			id := h.MustJoin(mia, testkit.ForSessions(class)).ID
			h.MustCancel(who[0], booked[0])
			tt.spoil(h, mia, s, class)
			taken := h.SeatsTaken(class)
			_, err := h.Accept(mia, h.LiveOffer(id))
			testkit.WantReason(t, err, tt.want)
			if o := h.LiveOffer(id); o.Status != waitlist.Live || h.SeatsTaken(class) != taken {
				t.Errorf("%+v, %d seats are taken", o, h.SeatsTaken(class))
			}
		})
	}
}

func TestDeclineOffer_OffersToTheNext(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after waitlist.After
		most  int
		leave bool
		want  waitlist.Status
	}{
		"goes back in line":        {waitlist.ReturnEntry, 3, false, waitlist.Waiting},
		"closes, if rules say so":  {waitlist.CloseEntry, 3, false, waitlist.Cancelled},
		"closes after the last":    {waitlist.ReturnEntry, 1, false, waitlist.Cancelled},
		"leaves, if they want to":  {waitlist.ReturnEntry, 3, true, waitlist.Cancelled},
		"goes back without a most": {waitlist.ReturnEntry, 0, false, waitlist.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetRules(func(s *waitlist.Settings) {
				s.Mode, s.AfterDecline, s.MaxOffersPerEntry = new(waitlist.OfferInTurn), &tt.after, &tt.most
			})
			class, waiters, o := offered(h)
			for i := range 2 {
				answered, err := h.Decline(waiters[0], o, tt.leave)
				if err != nil || answered.Repeated != (i == 1) || answered.Entry.Status != tt.want {
					t.Errorf("%+v, %v", answered, err)
				}
			}
			offers := h.Offers(class)
			if len(offers) != 2 || offers[0].Status != waitlist.Declined || offers[1].Status != waitlist.Live ||
				offers[1].Try != 2 {
				t.Fatalf("%+v", offers)
			}
			// The cascade ends with staff.
			if _, err := h.Decline(waiters[1], offers[1], false); err != nil {
				t.Fatal(err)
			}
			if last := h.LastDecision(class); last.Decision.Move != waitlist.HandBack || last.Note == "" ||
				h.SeatsTaken(class) != 0 {
				t.Errorf("%+v", last)
			}
			h.WantSound()
		})
	}
}

// An alarm ends an offer when it runs out, and the next is asked.
func TestOffers_ExpireByAlarm(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, waiters, o := offered(h)
	if want := h.Clock.Now().Add(30 * time.Minute); !o.ExpiresAt.Equal(want.Truncate(time.Microsecond)) {
		t.Errorf("it ends at %s, want %s", o.ExpiresAt, want)
	}
	h.Clock.Set(o.ExpiresAt.Add(-time.Millisecond)) // the alarm waits for the rest of real time
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.App.Housekeeping.RunAlarms(ctx, slog.New(slog.DiscardHandler))
	}()
	h.Clock.Set(o.ExpiresAt)
	_, err := h.Accept(waiters[0], o)
	testkit.WantReason(t, err, fault.OfferNotLive)
	testkit.Eventually(t, "somebody ends the offer", func() bool {
		return h.Count(`select count(*) from waitlist_offers where session_id = $1`, class) == 2
	})
	stop()
	<-done
	h.WantSound()
}

func TestOffers_AreWithdrawnWithTheirSeats(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, tt := range map[string]struct {
		act   func(h *testkit.Studio, class tenant.SessionID) error
		entry waitlist.Status
		taken int
	}{
		"with the session's sale": {func(h *testkit.Studio, class tenant.SessionID) error {
			s, err := h.App.Schedules.BlockSession(ctx, h.Owner, class, "")
			if s.SeatsTaken != 1 {
				h.T.Errorf("the answer says that %d seats are taken", s.SeatsTaken)
			}
			return err
		}, waitlist.Waiting, 1},
		"with the session": {func(h *testkit.Studio, class tenant.SessionID) error {
			_, err := h.App.Schedules.CancelSession(ctx, h.Owner, class, "", false)
			return err
		}, waitlist.Cancelled, 0},
		"with their seats": {func(
			h *testkit.Studio, class tenant.SessionID,
		) error {
			resize(h, class, 1)
			return nil
		}, waitlist.Waiting, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			class, who, booked := h.AddFullSession(2)
			_, entries := h.AddWaiters(1, testkit.ForSessions(class))
			h.MustCancel(who[0], booked[0])
			if err := tt.act(h, class); err != nil {
				t.Fatal(err)
			}
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: tt.entry})
			if offers := h.Offers(class); len(offers) != 1 || offers[0].Status != waitlist.Withdrawn ||
				h.SeatsTaken(class) != tt.taken || h.Entry(entries[0]).Tries != 0 {
				t.Errorf("%+v, %d seats are taken", offers, h.SeatsTaken(class))
			}
			h.WantSound()
		})
	}
}

// Seats that are only offered make way for a smaller capacity, the youngest offers first and no more of them than it
// takes. Those that are booked or held do not. One session and all of a series behave alike.
func TestMakeRoom_WithdrawsOffers(t *testing.T) {
	t.Parallel()
	for _, mode := range []waitlist.Mode{waitlist.OfferInTurn, waitlist.FirstToClaim} {
		for _, way := range []string{"a session", "a series"} {
			t.Run(string(mode)+", "+way, func(t *testing.T) {
				t.Parallel()
				h := testkit.New(t)
				h.SetMode(mode)
				in := h.SeriesInput()
				in.Template.Capacity, in.Template.WaitlistCapacity = new(2), new(9)
				series, ids := h.CreateSeries(in)
				class := ids[1]
				h.MustBook(h.AddMember("Booked"), class)
				h.MustHold(h.AddMember("Held"), class)
				waiters, entries := h.AddWaiters(3, testkit.ForSessions(class))
				resize := func(seats int) error {
					h.Tick()
					edit := session.Input{Capacity: &seats}
					if way == "a session" {
						_, _, err := h.App.Schedules.UpdateSession(context.Background(), h.Owner, class, nil, edit, session.CapacityField)
						return err
					}
					_, err := h.App.Schedules.UpdateSeries(
						context.Background(), h.Owner,
						schedules.SeriesEdit{Series: series.ID, Scope: schedules.All, Template: edit, Fields: session.CapacityField},
					)
					return err
				}
				want := func(taken int, statuses ...waitlist.Status) {
					t.Helper()
					for i, id := range entries {
						if e := h.Entry(id); e.Status != statuses[i] || (e.Status == waitlist.Waiting) != (e.Tries == 0) {
							t.Errorf("entry %d is %s after %d offers, want %s", i, e.Status, e.Tries, statuses[i])
						}
					}
					if n := h.SeatsTaken(class); n != taken {
						t.Errorf("%d seats are taken, want %d", n, taken)
					}
					h.WantSound()
				}
				steps, last := []int{3, 4, 5}, waitlist.Waiting // one offer after the other, so that one is the youngest
				if mode == waitlist.FirstToClaim {
					steps, last = []int{5}, waitlist.Offered // they may still claim one of two seats
				}
				for _, seats := range steps {
					if err := resize(seats); err != nil {
						t.Fatal(err)
					}
				}
				want(5, waitlist.Offered, waitlist.Offered, waitlist.Offered)
				if err := resize(4); err != nil {
					t.Fatal(err)
				}
				want(4, waitlist.Offered, waitlist.Offered, last)
				testkit.WantReason(t, resize(1), fault.CapacityBelowTaken)
				want(4, waitlist.Offered, waitlist.Offered, last) // a refusal takes nothing back
				if _, err := h.Accept(waiters[0], h.LiveOffer(entries[0])); err != nil {
					t.Fatal(err)
				}
				testkit.WantReason(t, resize(2), fault.CapacityBelowTaken)
				if err := resize(3); err != nil {
					t.Fatal(err)
				}
				want(3, waitlist.Booked, waitlist.Waiting, waitlist.Waiting)
				if o := h.Offers(class)[1]; o.Reason != "The session has fewer seats." {
					t.Errorf("%+v", o)
				}
				if done := h.Sweep(); done.Mended != 0 {
					t.Errorf("the sweep finds something: %+v", done)
				}
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
			h := testkit.New(t)
			h.SetMode(mode)
			class, _, _ := h.AddFullSession(1)
			ids := make(map[int]tenant.EntryID)
			for _, party := range []int{2, 4, 1} {
				ids[party] = h.MustJoin(
					h.AddMember("Mia"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: party},
				).ID
			}
			resize(h, class, 4) // three more
			got := map[waitlist.Mode]waitlist.Status{
				waitlist.OfferInTurn: waitlist.Offered, waitlist.AutoPromote: waitlist.Booked,
			}[mode]
			h.WantEntries(map[tenant.EntryID]waitlist.Status{ids[2]: got, ids[1]: got, ids[4]: waitlist.Waiting})
			if e := h.Entry(ids[4]); e.PassedOver != string(fault.PartySize) || h.SeatsTaken(class) != 4 {
				t.Errorf("%+v", e)
			}
			h.WantSound()
		})
	}
}

// Close to the start nobody is booked without being asked; before that whoever is may change their mind without
// penalty.
func TestPromotion_EndsBeforeTheStart(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.AutoPromoteCutoff = new(3 * time.Hour) })
	class, who, booked := h.AddFullSession(2)
	_, ids := h.AddWaiters(2, testkit.ForSessions(class))
	h.Clock.Set(testkit.Noon.Add(45*time.Hour - time.Minute))
	if _, err := h.App.Bookings.CancelBooking(
		context.Background(), h.Owner, bookings.CancelRequest{ID: booked[0]},
	); err != nil {
		t.Fatal(err)
	}
	h.WantEntries(map[tenant.EntryID]waitlist.Status{ids[0]: waitlist.Booked})
	grace := h.Text(
		`select to_char(grace_until at time zone 'UTC', 'HH24:MI') from bookings where id = $1`, h.Entry(ids[0]).Booking,
	)
	if grace != "09:59" {
		t.Errorf("grace until %s", grace)
	}
	h.Clock.Set(testkit.Noon.Add(45*time.Hour + time.Minute))
	if _, err := h.App.Bookings.CancelBooking(
		context.Background(), h.Owner, bookings.CancelRequest{ID: booked[1]},
	); err != nil {
		t.Fatal(err)
	}
	h.WantEntries(map[tenant.EntryID]waitlist.Status{ids[1]: waitlist.Offered})
	_ = who
	h.WantSound()
}

// The first to claim has it. What they leave is for those whom it still fits; when nobody is left it is open to all.
func TestFirstToClaim_BooksTheFirst(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.FirstToClaim)
	class, _, _ := h.AddFullSession(1)
	var who []tenant.Caller
	var ids []tenant.EntryID
	for _, party := range []int{2, 1, 2} {
		who = append(who, h.AddMember("Mia"))
		ids = append(
			ids, h.MustJoin(who[len(who)-1], waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: party}).ID,
		)
	}
	resize(h, class, 4)
	if n := h.SeatsTaken(class); n != 4 {
		t.Errorf("%d seats are taken or kept, want all", n)
	}
	h.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Offered, ids[1]: waitlist.Offered, ids[2]: waitlist.Offered,
	})
	if _, err := h.Accept(who[2], h.LiveOffer(ids[2])); err != nil {
		t.Fatal(err)
	}
	h.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Waiting, ids[1]: waitlist.Offered, ids[2]: waitlist.Booked,
	})
	if h.SeatsTaken(class) != 4 || h.Entry(ids[0]).Tries != 0 {
		t.Errorf("%d seats; it was not theirs to lose", h.SeatsTaken(class))
	}
	h.WantSound()
	if _, err := h.Decline(who[1], h.LiveOffer(ids[1]), false); err != nil {
		t.Fatal(err)
	}
	if n := h.SeatsTaken(class); n != 3 {
		t.Errorf("%d seats are taken, want none kept", n)
	}
	h.WantSound()
	h.MustBook(h.AddMember("Anybody"), class)
}

// No more is kept than those who were told can claim.
func TestFirstToClaim_ReservesWhatCanBeClaimed(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.FirstToClaim)
	class, _, _ := h.AddFullSession(1)
	h.AddWaiters(1, testkit.ForSessions(class))
	resize(h, class, 5)
	if n := h.SeatsTaken(class); n != 2 {
		t.Errorf("%d seats are taken or kept", n)
	}
	h.MustBook(h.AddMember("Anybody"), class)
	h.WantSound()
}

// Seats that nobody wanted before go with those that are let go: the round grows.
func TestRound_AddsSeatsFreedLater(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(3)
	mia := h.AddMember("Mia")
	first := h.MustJoin(mia, testkit.ForSessions(class)).ID
	large := h.MustJoin(h.AddMember("Large"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 3}).ID
	for i := range who {
		h.MustCancel(who[i], booked[i])
	}
	if _, err := h.Decline(mia, h.LiveOffer(first), true); err != nil {
		t.Fatal(err)
	}
	h.WantEntries(map[tenant.EntryID]waitlist.Status{large: waitlist.Offered})
	h.WantSound()
}

// Nine holes are a service of their own: whoever wishes for nine is not asked to play eighteen.
func TestTimeWindow_IsForOneService(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	nine := h.AddService(catalog.Service{Name: "Nine holes", Duration: 2 * time.Hour, MaxParty: 4})
	_, eighteenHolder, eighteenBooked := h.AddFullSession(1)
	short, nineHolder, nineBooked := h.AddFullSession(1, func(s *testkit.Session) { s.Service = nine })
	wish := h.ForWindow("2026-03-18", "2026-03-18", "06:00", "22:00")
	wish.Window.Service = nine
	noa := h.MustJoin(h.AddMember("Noa"), wish)
	h.MustCancel(eighteenHolder[0], eighteenBooked[0])
	if e := h.Entry(noa.ID); e.Status != waitlist.Waiting {
		t.Errorf("asked to play eighteen: she is %s", e.Status)
	}
	h.MustCancel(nineHolder[0], nineBooked[0])
	if o := h.LiveOffer(noa.ID); o.Session != short {
		t.Errorf("%+v", o)
	}
	h.WantSound()
}

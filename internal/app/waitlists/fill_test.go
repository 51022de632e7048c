package waitlists_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// ways are all the ways in which seats become free, each with what it takes to make it happen. It gives the session.
var ways = map[string]struct {
	by   waitlist.Trigger
	mode waitlist.Mode // offers in turn, unless it says otherwise
	left bool          // nobody who waits fits the seats
	free func(h *testkit.Studio) tenant.SessionID
}{
	"a member cancels": {by: waitlist.ByCancellation, free: func(h *testkit.Studio) tenant.SessionID {
		class, who, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		h.MustCancel(who[0], booked[0])
		return class
	}},
	"staff cancel": {by: waitlist.ByCancellation, free: func(h *testkit.Studio) tenant.SessionID {
		class, _, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		if _, err := h.App.Bookings.CancelBooking(
			context.Background(), h.Owner, bookings.CancelRequest{ID: booked[0]},
		); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"a booking from an offer is cancelled": {by: waitlist.ByCancellation, free: func(h *testkit.Studio) tenant.SessionID {
		class, who, booked := h.AddFullSession(1)
		waiters, entries := h.AddWaiters(2, testkit.ForSessions(class))
		h.MustCancel(who[0], booked[0])
		answered, err := h.Accept(waiters[0], h.LiveOffer(entries[0]))
		if err != nil {
			h.T.Fatal(err)
		}
		h.MustCancel(waiters[0], answered.Booking.ID)
		return class
	}},
	"a booking moves away": {by: waitlist.ByReschedule, free: func(h *testkit.Studio) tenant.SessionID {
		class, who, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		if _, err := h.Reschedule(
			testkit.SelfOnly(who[0]), booked[0], h.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}),
		); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"somebody does not come": {by: waitlist.ByNoShow, free: func(h *testkit.Studio) tenant.SessionID {
		h.SetRules(func(s *waitlist.Settings) { s.Mode, s.FillAfterStart = new(waitlist.OfferInTurn), new(30*time.Minute) })
		class, _, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		h.Clock.Set(testkit.Noon.Add(48*time.Hour + 10*time.Minute))
		if _, err := h.App.Bookings.MarkNoShow(context.Background(), h.Coach, booked[0]); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"a hold runs out, and the alarm notices": {by: waitlist.ByExpiredHold, free: func(h *testkit.Studio) tenant.SessionID {
		class := held(h, 1)
		h.Clock.Set(testkit.Noon.Add(11 * time.Minute))
		if _, _, err := h.App.Housekeeping.ExpireDue(context.Background(), h.Tenant); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"a hold runs out, and the sweep notices": {by: waitlist.ByExpiredHold, free: func(h *testkit.Studio) tenant.SessionID {
		class := held(h, 1)
		h.Clock.Set(testkit.Noon.Add(11 * time.Minute))
		h.Sweep()
		return class
	}},
	"a hold runs out, and the next who asks notices": {by: waitlist.ByExpiredHold,
		free: func(h *testkit.Studio) tenant.SessionID {
			class := held(h, 1)
			h.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			if p, err := h.Book(h.AddMember("Late"), class); err != nil || p.Entry == nil {
				h.T.Fatalf("%+v, %v", p, err)
			}
			return class
		}},
	"a hold runs out, and the next who joins notices": {by: waitlist.ByExpiredHold,
		free: func(h *testkit.Studio) tenant.SessionID {
			class := held(h, 1)
			h.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			h.MustJoin(h.AddMember("Late"), testkit.ForSessions(class))
			return class
		}},
	"a hold runs out, and a booking that moves in notices": {by: waitlist.ByExpiredHold,
		free: func(h *testkit.Studio) tenant.SessionID {
			class := held(h, 2)
			h.Clock.Set(testkit.Noon.Add(11 * time.Minute))
			who := h.AddMember("Mover")
			id := h.MustBook(who, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
			if _, err := h.Reschedule(testkit.SelfOnly(who), id, class); err != nil {
				h.T.Fatal(err)
			}
			return class
		}},
	"a hold is given up": {by: waitlist.ByRelease, free: func(h *testkit.Studio) tenant.SessionID {
		class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 9})
		who := h.AddMember("Holder")
		held := h.MustHold(who, class)
		h.AddWaiters(1, testkit.ForSessions(class))
		if _, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(who), held.ID); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"a session gets more seats": {by: waitlist.ByCapacity, free: func(h *testkit.Studio) tenant.SessionID {
		class, _, _ := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		resize(h, class, 2)
		return class
	}},
	"a session gets fewer seats than are offered": {by: waitlist.ByWithdrawal,
		free: func(h *testkit.Studio) tenant.SessionID {
			class, _, _ := h.AddFullSession(1)
			h.MustJoin(h.AddMember("Large"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
			h.AddWaiters(1, testkit.ForSessions(class))
			resize(h, class, 3)
			h.Tick()
			resize(h, class, 2)
			return class
		}},
	"a series gets fewer seats than are offered": {by: waitlist.ByWithdrawal,
		free: func(h *testkit.Studio) tenant.SessionID {
			in := h.SeriesInput()
			in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
			series, ids := h.CreateSeries(in)
			h.MustBook(h.AddMember("Holder"), ids[1])
			h.MustJoin(h.AddMember("Large"), waitlists.JoinRequest{Sessions: ids[1:2], Party: 2})
			h.AddWaiters(1, testkit.ForSessions(ids[1]))
			for _, seats := range []int{3, 2} {
				h.Tick()
				h.EditSeries(schedules.SeriesEdit{
					Series: series.ID, Scope: schedules.All, Template: session.Input{Capacity: &seats}, Fields: session.CapacityField,
				})
			}
			return ids[1]
		}},
	"a series gets more seats": {by: waitlist.ByCapacity, free: func(h *testkit.Studio) tenant.SessionID {
		in := h.SeriesInput()
		in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
		series, ids := h.CreateSeries(in)
		h.MustBook(h.AddMember("Holder"), ids[1])
		h.AddWaiters(1, testkit.ForSessions(ids[1]))
		h.EditSeries(schedules.SeriesEdit{
			Series: series.ID, Scope: schedules.All, Template: session.Input{Capacity: new(2)}, Fields: session.CapacityField,
		})
		return ids[1]
	}},
	"one of a series gets more seats": {by: waitlist.ByCapacity, free: func(h *testkit.Studio) tenant.SessionID {
		in := h.SeriesInput()
		in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
		series, ids := h.CreateSeries(in)
		h.MustBook(h.AddMember("Holder"), ids[1])
		h.AddWaiters(1, testkit.ForSessions(ids[1]))
		h.EditSeries(schedules.SeriesEdit{
			Series: series.ID, Session: ids[1], Scope: schedules.One, Template: session.Input{Capacity: new(2)},
			Fields: session.CapacityField,
		})
		return ids[1]
	}},
	"a session goes on sale": {by: waitlist.ByPublish, free: func(h *testkit.Studio) tenant.SessionID {
		h.AddWaiters(1, week(h))
		class := h.AddSession(testkit.Session{Starts: testkit.Evening, State: catalog.Draft})
		if _, err := h.App.Schedules.PublishSession(context.Background(), h.Owner, class, nil); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"a session is made on sale": {by: waitlist.ByPublish, free: func(h *testkit.Studio) tenant.SessionID {
		h.AddWaiters(1, week(h))
		return h.CreateSession(h.SessionInput(testkit.Evening), true).ID
	}},
	"many sessions go on sale": {by: waitlist.ByPublish, free: func(h *testkit.Studio) tenant.SessionID {
		h.AddWaiters(1, week(h))
		class := h.AddSession(testkit.Session{Starts: testkit.Evening, State: catalog.Draft})
		if _, err := h.App.Schedules.BulkPublish(context.Background(), h.Owner, testkit.WeekFilter()); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"a series is made": {by: waitlist.ByPublish, free: func(h *testkit.Studio) tenant.SessionID {
		h.AddWaiters(1, week(h))
		_, ids := h.CreateSeries(h.SeriesInput())
		return ids[0]
	}},
	"a series goes on": {by: waitlist.ByPublish, free: func(h *testkit.Studio) tenant.SessionID {
		series := h.CreateEndlessSeries("FREQ=WEEKLY")
		last := h.Text(`select max(local_date)::text from sessions where series_id = $1`, series.ID)
		next := civil.MustParseDate(last).AddDays(7).String()
		h.Clock.Set(testkit.Noon.Add(60 * 24 * time.Hour))
		h.AddWaiters(1, h.ForWindow(next, next, "00:00", "23:59"))
		h.Sweep()
		return sessionOn(h, next)
	}},
	"a series gets another day": {by: waitlist.ByPublish, free: func(h *testkit.Studio) tenant.SessionID {
		series, _ := h.CreateSeries(h.SeriesInput())
		h.AddWaiters(1, h.ForWindow("2026-03-18", "2026-03-18", "00:00", "23:59"))
		h.EditSeries(schedules.SeriesEdit{
			Series: series.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,WE,TH;COUNT=9"},
			PatternFields: session.RuleField,
		})
		return sessionOn(h, "2026-03-18")
	}},
	"sessions are imported": {by: waitlist.ByPublish, free: func(h *testkit.Studio) tenant.SessionID {
		h.AddWaiters(1, week(h))
		return h.ImportSessions(
			testkit.ImportHeader+"Vinyasa,Pier 1,2026-03-18,18:00,,60,,,2,3,,,published\n", false,
		).Sessions[0]
	}},
	"a session is back on sale": {by: waitlist.ByUnblock, free: func(h *testkit.Studio) tenant.SessionID {
		class, who, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		if _, err := h.App.Schedules.BlockSession(context.Background(), h.Owner, class, ""); err != nil {
			h.T.Fatal(err)
		}
		h.MustCancel(who[0], booked[0])
		if n := len(h.Decisions(class)); n != 0 {
			h.T.Errorf("%d decisions about a session that is off sale", n)
		}
		if _, _, err := h.App.Schedules.UnblockSession(context.Background(), h.Owner, class); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"a session moves to where somebody waits": {by: waitlist.ByMove, free: func(h *testkit.Studio) tenant.SessionID {
		class := h.AddSession(testkit.Session{})
		h.AddWaiters(1, h.ForWindow("2026-03-20", "2026-03-20", "00:00", "23:59"))
		shift(h, class, testkit.Noon.Add(96*time.Hour))
		return class
	}},
	"an offer is declined": {by: waitlist.ByDecline, free: func(h *testkit.Studio) tenant.SessionID {
		class, waiters, o := offered(h)
		if _, err := h.Decline(waiters[0], o, false); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"an offer runs out": {by: waitlist.ByExpiry, free: func(h *testkit.Studio) tenant.SessionID {
		class, _, o := offered(h)
		h.Clock.Set(o.ExpiresAt)
		if _, _, err := h.App.Housekeeping.ExpireDue(context.Background(), h.Tenant); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"staff end an offer": {by: waitlist.ByExpiry, free: func(h *testkit.Studio) tenant.SessionID {
		class, _, o := offered(h)
		h.Tick()
		if _, err := h.App.Waitlists.ExpireOffer(context.Background(), h.Owner, o.ID, ""); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"whoever has an offer leaves": {by: waitlist.ByWithdrawal, free: func(h *testkit.Studio) tenant.SessionID {
		class, waiters, o := offered(h)
		h.Tick()
		if _, err := h.App.Waitlists.LeaveWaitlist(
			context.Background(), testkit.SelfOnly(waiters[0]), o.Entry, "", false,
		); err != nil {
			h.T.Fatal(err)
		}
		return class
	}},
	"whoever has an offer waited for a session that is called off": {by: waitlist.ByWithdrawal,
		free: func(h *testkit.Studio) tenant.SessionID {
			class, who, booked := h.AddFullSession(1)
			other, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(50*time.Hour)))
			_, elsewhere := h.AddWaiters(1, testkit.ForSessions(other))
			h.MustCancel(who[0], booked[0])
			if _, err := h.App.Waitlists.OfferPlace(
				context.Background(), h.Owner, waitlists.OfferRequest{Session: class, Entry: elsewhere[0]},
			); err != nil {
				h.T.Fatal(err)
			}
			h.AddWaiters(1, testkit.ForSessions(class))
			h.Tick()
			if _, err := h.App.Schedules.CancelSession(context.Background(), h.Owner, other, "", false); err != nil {
				h.T.Fatal(err)
			}
			return class
		}},
	"a party claims fewer seats than were free": {by: waitlist.ByWithdrawal, mode: waitlist.FirstToClaim, left: true,
		free: func(h *testkit.Studio) tenant.SessionID {
			class, who, booked := h.AddFullSession(2)
			large, small := h.AddMember("Large"), h.AddMember("Small")
			h.MustJoin(large, waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
			id := h.MustJoin(small, testkit.ForSessions(class)).ID
			h.Block(class)
			h.MustCancel(who[0], booked[0])
			h.MustCancel(who[1], booked[1])
			if _, _, err := h.App.Schedules.UnblockSession(context.Background(), h.Owner, class); err != nil {
				h.T.Fatal(err)
			}
			if _, err := h.Accept(small, h.LiveOffer(id)); err != nil {
				h.T.Fatal(err)
			}
			return class
		}},
	"the rules let somebody in": {by: waitlist.ByRules, free: func(h *testkit.Studio) tenant.SessionID {
		h.SetRules(func(s *waitlist.Settings) { s.EligibilityExpression = new(`member.tier == "gold"`) })
		class, who, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		h.MustCancel(who[0], booked[0])
		edit(h, func(s *waitlist.Settings) { s.EligibilityExpression = new("") })
		return class
	}},
	"the rules are in force again": {by: waitlist.ByRules, free: func(h *testkit.Studio) tenant.SessionID {
		class, who, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		edit(h, func(s *waitlist.Settings) { s.Enabled = new(false) })
		h.MustCancel(who[0], booked[0])
		if n := len(h.Decisions(class)); n != 0 {
			h.T.Errorf("%d decisions without a waitlist", n)
		}
		edit(h, func(s *waitlist.Settings) { s.Enabled = nil })
		return class
	}},
	"the rules let more be asked": {by: waitlist.ByRules, free: func(h *testkit.Studio) tenant.SessionID {
		h.SetRules(func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(1) })
		class, waiters, o := offered(h)
		if _, err := h.Decline(waiters[0], o, false); err != nil {
			h.T.Fatal(err)
		}
		edit(h, func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(2) })
		return class
	}},
	"the rules let windows reach further": {by: waitlist.ByRules, free: func(h *testkit.Studio) tenant.SessionID {
		class := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(48 * time.Hour)}) // at 13:00
		h.AddWaiters(1, h.ForWindow("2026-03-18", "2026-03-18", "10:00", "11:00"))
		edit(h, func(s *waitlist.Settings) { s.TimeFlexibility = new(2 * time.Hour) })
		return class
	}},
	"nobody noticed": {by: waitlist.BySweep, free: func(h *testkit.Studio) tenant.SessionID {
		class, _, booked := h.AddFullSession(1)
		h.AddWaiters(1, testkit.ForSessions(class))
		cancelUnnoticed(h, booked[0])
		if done := h.Sweep(); done.Mended != 1 {
			h.T.Errorf("%+v", done)
		}
		return class
	}},
}

func TestFill_RunsForEveryTrigger(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			if way.mode == "" {
				way.mode = waitlist.OfferInTurn
			}
			h.SetMode(way.mode)
			class := way.free(h)
			if last := h.LastDecision(class); last.Case.Trigger != way.by {
				t.Errorf("the last decision was due to %s, want %s", last.Case.Trigger, way.by)
			} else if (last.Decision.Given == 0) != way.left {
				t.Errorf("%d of the seats were given: %+v", last.Decision.Given, last.Decision)
			}
			h.WantSound()
			wantDecisionsFollow(h, t)
			if done := h.Sweep(); done.Mended != 0 {
				t.Errorf("the sweep finds something: %+v", done)
			}
		})
	}
}

// freeing are the functions that give seats back or put some on sale, each with a way above that runs through it.
// Whoever writes another has to say here how the waitlist hears of it.
var freeing = map[string]string{
	"Cancel":     "a member cancels",
	"move":       "a booking moves away",
	"MarkNoShow": "somebody does not come",
	"markAbsent": "", // after the end: nobody can have the seats
	"EndHold":    "a hold is given up",
	"accept":     "", // the booking takes them in the same breath
	// of package waitlist
	"Ending.Changes":         "an offer is declined",
	"Changes.closeRound":     "a party claims fewer seats than were free",
	"WithdrawnSeats.Changes": "a session gets fewer seats than are offered", // its callers fill them
}

// Every call that takes seats away from a counter is in a function that the table knows.
func TestFill_IsCalledByAllThatFreesSeats(t *testing.T) {
	t.Parallel()
	found := make(map[string]bool)
	freeingIn := func(key string) func(string, *ast.BlockStmt) {
		return func(name string, body *ast.BlockStmt) {
			ast.Inspect(body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if k, ok := n.Key.(*ast.Ident); ok && k.Name == key {
						if minus, ok := n.Value.(*ast.UnaryExpr); ok && minus.Op == token.SUB {
							found[name] = true
						}
					}
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "free" {
						found[name] = true
					}
				}
				return true
			})
		}
	}
	inEveryFunction(t, freeingIn("Taken"))
	inEveryFunctionOf(t, "../../rules/waitlist/*.go", func(receiver, name string, body *ast.BlockStmt) {
		if receiver != "" {
			name = receiver + "." + name
		}
		freeingIn("Seats")(name, body)
	})
	if diff := cmp.Diff(slices.Sorted(maps.Keys(freeing)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("seats are freed by other functions than the table says: put a way in, and name it (-table +code)\n%s", diff)
	}
	for name, way := range freeing {
		if _, known := ways[way]; !known && way != "" {
			t.Errorf("%s: no way is called %q", name, way)
		}
	}
}

// Whatever writes sessions lets the waitlist hear of those on sale, and whatever writes its rules or policy of the
// seats that are open.
func TestFill_IsCalledByAllThatOpensSessions(t *testing.T) {
	t.Parallel()
	writes, wakes := make(map[string]bool), make(map[string]bool)
	inEveryFunction(t, func(name string, body *ast.BlockStmt) {
		ast.Inspect(body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				switch f.Sel.Name {
				case "InsertSessions", "UpdateSessions", "PutRules", "PutPolicy":
					writes[name] = true
				case "FillAll", "fill", "updateWaitlists", "RequestFill":
					wakes[name] = true
				}
			}
			return true
		})
	})
	var silent []string
	for name := range writes {
		if !wakes[name] {
			silent = append(silent, name)
		}
	}
	slices.Sort(silent)
	// These take sessions off sale, leave it to their callers, or write nothing that seats depend on.
	if diff := cmp.Diff([]string{"attachWorkouts", "cancelSessions", "updateRules"}, silent); diff != "" {
		t.Error(diff)
	}
}

// inEveryFunction looks at the functions of the use cases; closures belong to the function they are in.
func inEveryFunction(t *testing.T, look func(name string, body *ast.BlockStmt)) {
	t.Helper()
	inEveryFunctionOf(t, "../*/*.go", func(_, name string, body *ast.BlockStmt) { look(name, body) })
}

// inEveryFunctionOf looks at the functions in files, with the types that they are methods of.
func inEveryFunctionOf(t *testing.T, pattern string, look func(receiver, name string, body *ast.BlockStmt)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				look(receiverOf(f), f.Name.Name, f.Body)
			}
		}
	}
}

func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	return types.ExprString(receiver)
}

// edit is rules a moment later.
func edit(h *testkit.Studio, change func(*waitlist.Settings)) {
	h.T.Helper()
	h.Tick()
	h.SetRules(change)
}

// held is a session all of whose seats are held, and for which somebody waits.
func held(h *testkit.Studio, seats int) tenant.SessionID {
	h.T.Helper()
	class := h.AddSession(testkit.Session{Capacity: seats, Waitlist: 9})
	for range seats {
		h.MustHold(h.AddMember("Holder"), class)
	}
	h.AddWaiters(1, testkit.ForSessions(class))
	return class
}

// offered is a session whose one seat is offered to the first of two who wait.
func offered(h *testkit.Studio) (tenant.SessionID, []tenant.Caller, waitlist.Offer) {
	h.T.Helper()
	class, who, booked := h.AddFullSession(1)
	waiters, entries := h.AddWaiters(2, testkit.ForSessions(class))
	h.MustCancel(who[0], booked[0])
	return class, waiters, h.LiveOffer(entries[0])
}

func resize(h *testkit.Studio, id tenant.SessionID, seats int) {
	h.T.Helper()
	if _, _, err := h.App.Schedules.UpdateSession(
		context.Background(), h.Owner, id, nil, session.Input{Capacity: &seats}, session.CapacityField,
	); err != nil {
		h.T.Fatal(err)
	}
}

// shift moves a session of an hour to another time.
func shift(h *testkit.Studio, id tenant.SessionID, to time.Time) {
	h.T.Helper()
	in := session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}
	if _, _, err := h.App.Schedules.UpdateSession(
		context.Background(), h.Owner, id, nil, in, session.StartField|session.EndField,
	); err != nil {
		h.T.Fatal(err)
	}
}

// week wishes for anything in the week of the tests.
func week(h *testkit.Studio) waitlists.JoinRequest {
	return h.ForWindow("2026-03-16", "2026-03-22", "00:00", "23:59")
}

func sessionOn(h *testkit.Studio, day string) tenant.SessionID {
	h.T.Helper()
	id, err := tenant.Parse[tenant.SessionID](
		h.Text(`select id::text from sessions where tenant_id = $1 and local_date = $2::text::date`, h.Tenant, day),
	)
	if err != nil {
		h.T.Fatal(err)
	}
	return id
}

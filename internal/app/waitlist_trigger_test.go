package app_test

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

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ways are all the ways in which seats become free, each with what it takes to make it happen. It gives the session.
var ways = map[string]struct {
	by   waitlist.Trigger
	mode waitlist.Mode // offers in turn, unless it says otherwise
	left bool          // nobody who waits fits the seats
	free func(h *house) tenant.SessionID
}{
	"a member cancels": {by: waitlist.ByCancellation, free: func(h *house) tenant.SessionID {
		class, who, booked := h.full(1)
		h.waiters(1, names(class))
		h.mustCancel(who[0], booked[0])
		return class
	}},
	"staff cancel": {by: waitlist.ByCancellation, free: func(h *house) tenant.SessionID {
		class, _, booked := h.full(1)
		h.waiters(1, names(class))
		if _, err := h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: booked[0]}); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a booking from an offer is cancelled": {by: waitlist.ByCancellation, free: func(h *house) tenant.SessionID {
		class, who, booked := h.full(1)
		waiters, entries := h.waiters(2, names(class))
		h.mustCancel(who[0], booked[0])
		answered, err := h.accept(waiters[0], h.live(entries[0]))
		if err != nil {
			h.t.Fatal(err)
		}
		h.mustCancel(waiters[0], answered.Booking.ID)
		return class
	}},
	"a booking moves away": {by: waitlist.ByReschedule, free: func(h *house) tenant.SessionID {
		class, who, booked := h.full(1)
		h.waiters(1, names(class))
		if _, err := h.move(own(who[0]), booked[0], h.session(slot{Starts: noon.Add(70 * time.Hour)})); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"somebody does not come": {by: waitlist.ByNoShow, free: func(h *house) tenant.SessionID {
		h.rules(func(s *waitlist.Settings) { s.Mode, s.FillAfterStart = new(waitlist.OfferInTurn), new(30*time.Minute) })
		class, _, booked := h.full(1)
		h.waiters(1, names(class))
		h.clock.Set(noon.Add(48*time.Hour + 10*time.Minute))
		if _, err := h.app.MarkNoShow(context.Background(), h.Coach, booked[0]); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a hold runs out, and the alarm notices": {by: waitlist.ByExpiredHold, free: func(h *house) tenant.SessionID {
		class := h.held(1)
		h.clock.Set(noon.Add(11 * time.Minute))
		if _, _, err := h.app.ExpireDue(context.Background(), h.Tenant); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a hold runs out, and the sweep notices": {by: waitlist.ByExpiredHold, free: func(h *house) tenant.SessionID {
		class := h.held(1)
		h.clock.Set(noon.Add(11 * time.Minute))
		h.sweep()
		return class
	}},
	"a hold runs out, and the next who asks notices": {by: waitlist.ByExpiredHold, free: func(h *house) tenant.SessionID {
		class := h.held(1)
		h.clock.Set(noon.Add(11 * time.Minute))
		if p, err := h.book(h.member("Late"), class); err != nil || p.Entry == nil {
			h.t.Fatalf("%+v, %v", p, err)
		}
		return class
	}},
	"a hold runs out, and the next who joins notices": {by: waitlist.ByExpiredHold, free: func(h *house) tenant.SessionID {
		class := h.held(1)
		h.clock.Set(noon.Add(11 * time.Minute))
		h.mustJoin(h.member("Late"), names(class))
		return class
	}},
	"a hold runs out, and a booking that moves in notices": {by: waitlist.ByExpiredHold, free: func(h *house) tenant.SessionID {
		class := h.held(2)
		h.clock.Set(noon.Add(11 * time.Minute))
		who := h.member("Mover")
		id := h.mustBook(who, h.session(slot{Starts: noon.Add(70 * time.Hour)}))
		if _, err := h.move(own(who), id, class); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a hold is given up": {by: waitlist.ByRelease, free: func(h *house) tenant.SessionID {
		class := h.session(slot{Capacity: 1, Waitlist: 9})
		who := h.member("Holder")
		held := h.mustHold(who, class)
		h.waiters(1, names(class))
		if _, err := h.app.ReleaseHold(context.Background(), own(who), held.ID); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a session gets more seats": {by: waitlist.ByCapacity, free: func(h *house) tenant.SessionID {
		class, _, _ := h.full(1)
		h.waiters(1, names(class))
		h.resize(class, 2)
		return class
	}},
	"a session gets fewer seats than are offered": {by: waitlist.ByWithdrawal, free: func(h *house) tenant.SessionID {
		class, _, _ := h.full(1)
		h.mustJoin(h.member("Large"), app.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
		h.waiters(1, names(class))
		h.resize(class, 3)
		h.tick()
		h.resize(class, 2)
		return class
	}},
	"a series gets fewer seats than are offered": {by: waitlist.ByWithdrawal, free: func(h *house) tenant.SessionID {
		in := h.tuesdays()
		in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
		series, ids := h.createSeries(in)
		h.mustBook(h.member("Holder"), ids[1])
		h.mustJoin(h.member("Large"), app.JoinRequest{Sessions: ids[1:2], Party: 2})
		h.waiters(1, names(ids[1]))
		for _, seats := range []int{3, 2} {
			h.tick()
			h.editSeries(app.SeriesEdit{Series: series.ID, Scope: app.All, Template: session.Input{Capacity: &seats}, Fields: session.CapacityField})
		}
		return ids[1]
	}},
	"a series gets more seats": {by: waitlist.ByCapacity, free: func(h *house) tenant.SessionID {
		in := h.tuesdays()
		in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
		series, ids := h.createSeries(in)
		h.mustBook(h.member("Holder"), ids[1])
		h.waiters(1, names(ids[1]))
		h.editSeries(app.SeriesEdit{Series: series.ID, Scope: app.All, Template: session.Input{Capacity: new(2)}, Fields: session.CapacityField})
		return ids[1]
	}},
	"one of a series gets more seats": {by: waitlist.ByCapacity, free: func(h *house) tenant.SessionID {
		in := h.tuesdays()
		in.Template.Capacity, in.Template.WaitlistCapacity = new(1), new(9)
		series, ids := h.createSeries(in)
		h.mustBook(h.member("Holder"), ids[1])
		h.waiters(1, names(ids[1]))
		h.editSeries(app.SeriesEdit{Series: series.ID, Session: ids[1], Scope: app.One, Template: session.Input{Capacity: new(2)}, Fields: session.CapacityField})
		return ids[1]
	}},
	"a session goes on sale": {by: waitlist.ByPublish, free: func(h *house) tenant.SessionID {
		h.waiters(1, h.week())
		class := h.session(slot{Starts: evening, State: catalog.Draft})
		if _, err := h.app.PublishSession(context.Background(), h.Owner, class, nil); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a session is made on sale": {by: waitlist.ByPublish, free: func(h *house) tenant.SessionID {
		h.waiters(1, h.week())
		return h.createSession(h.sessionInput(evening), true).ID
	}},
	"many sessions go on sale": {by: waitlist.ByPublish, free: func(h *house) tenant.SessionID {
		h.waiters(1, h.week())
		class := h.session(slot{Starts: evening, State: catalog.Draft})
		if _, err := h.app.BulkPublish(context.Background(), h.Owner, wholeWeek()); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a series is made": {by: waitlist.ByPublish, free: func(h *house) tenant.SessionID {
		h.waiters(1, h.week())
		_, ids := h.createSeries(h.tuesdays())
		return ids[0]
	}},
	"a series goes on": {by: waitlist.ByPublish, free: func(h *house) tenant.SessionID {
		series := h.openSeries("FREQ=WEEKLY")
		last := h.queryText(`select max(local_date)::text from sessions where series_id = $1`, series.ID)
		next := civil.MustParseDate(last).AddDays(7).String()
		h.clock.Set(noon.Add(60 * 24 * time.Hour))
		h.waiters(1, h.window(next, next, "00:00", "23:59"))
		h.sweep()
		return h.sessionOn(next)
	}},
	"a series gets another day": {by: waitlist.ByPublish, free: func(h *house) tenant.SessionID {
		series, _ := h.createSeries(h.tuesdays())
		h.waiters(1, h.window("2026-03-18", "2026-03-18", "00:00", "23:59"))
		h.editSeries(app.SeriesEdit{
			Series: series.ID, Scope: app.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,WE,TH;COUNT=9"}, PatternFields: session.RuleField,
		})
		return h.sessionOn("2026-03-18")
	}},
	"sessions are imported": {by: waitlist.ByPublish, free: func(h *house) tenant.SessionID {
		h.waiters(1, h.week())
		return h.importSessions(importHeader+"Vinyasa,Pier 1,2026-03-18,18:00,,60,,,2,3,,,published\n", false).Sessions[0]
	}},
	"a session is back on sale": {by: waitlist.ByUnblock, free: func(h *house) tenant.SessionID {
		class, who, booked := h.full(1)
		h.waiters(1, names(class))
		if _, err := h.app.BlockSession(context.Background(), h.Owner, class, ""); err != nil {
			h.t.Fatal(err)
		}
		h.mustCancel(who[0], booked[0])
		if n := len(h.decisions(class)); n != 0 {
			h.t.Errorf("%d decisions about a session that is off sale", n)
		}
		if _, _, err := h.app.UnblockSession(context.Background(), h.Owner, class); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a session moves to where somebody waits": {by: waitlist.ByMove, free: func(h *house) tenant.SessionID {
		class := h.session(slot{})
		h.waiters(1, h.window("2026-03-20", "2026-03-20", "00:00", "23:59"))
		h.shift(class, noon.Add(96*time.Hour))
		return class
	}},
	"an offer is declined": {by: waitlist.ByDecline, free: func(h *house) tenant.SessionID {
		class, waiters, o := h.offered()
		if _, err := h.decline(waiters[0], o, false); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"an offer runs out": {by: waitlist.ByExpiry, free: func(h *house) tenant.SessionID {
		class, _, o := h.offered()
		h.clock.Set(o.ExpiresAt)
		if _, _, err := h.app.ExpireDue(context.Background(), h.Tenant); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"staff end an offer": {by: waitlist.ByExpiry, free: func(h *house) tenant.SessionID {
		class, _, o := h.offered()
		h.tick()
		if _, err := h.app.ExpireOffer(context.Background(), h.Owner, o.ID, ""); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"whoever has an offer leaves": {by: waitlist.ByWithdrawal, free: func(h *house) tenant.SessionID {
		class, waiters, o := h.offered()
		h.tick()
		if _, err := h.app.LeaveWaitlist(context.Background(), own(waiters[0]), o.Entry, "", false); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"whoever has an offer waited for a session that is called off": {by: waitlist.ByWithdrawal, free: func(h *house) tenant.SessionID {
		class, who, booked := h.full(1)
		other, _, _ := h.full(1, starting(noon.Add(50*time.Hour)))
		_, elsewhere := h.waiters(1, names(other))
		h.mustCancel(who[0], booked[0])
		if _, err := h.app.OfferPlace(context.Background(), h.Owner, app.OfferRequest{Session: class, Entry: elsewhere[0]}); err != nil {
			h.t.Fatal(err)
		}
		h.waiters(1, names(class))
		h.tick()
		if _, err := h.app.CancelSession(context.Background(), h.Owner, other, "", false); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"a party claims fewer seats than were free": {by: waitlist.ByWithdrawal, mode: waitlist.FirstToClaim, left: true, free: func(h *house) tenant.SessionID {
		class, who, booked := h.full(2)
		large, small := h.member("Large"), h.member("Small")
		h.mustJoin(large, app.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
		id := h.mustJoin(small, names(class)).ID
		h.exec(`update sessions set blocked = true where id = $1`, class)
		h.mustCancel(who[0], booked[0])
		h.mustCancel(who[1], booked[1])
		if _, _, err := h.app.UnblockSession(context.Background(), h.Owner, class); err != nil {
			h.t.Fatal(err)
		}
		if _, err := h.accept(small, h.live(id)); err != nil {
			h.t.Fatal(err)
		}
		return class
	}},
	"the rules let somebody in": {by: waitlist.ByRules, free: func(h *house) tenant.SessionID {
		h.rules(func(s *waitlist.Settings) { s.EligibilityExpression = new(`member.tier == "gold"`) })
		class, who, booked := h.full(1)
		h.waiters(1, names(class))
		h.mustCancel(who[0], booked[0])
		h.edit(func(s *waitlist.Settings) { s.EligibilityExpression = new("") })
		return class
	}},
	"the rules are in force again": {by: waitlist.ByRules, free: func(h *house) tenant.SessionID {
		class, who, booked := h.full(1)
		h.waiters(1, names(class))
		h.edit(func(s *waitlist.Settings) { s.Enabled = new(false) })
		h.mustCancel(who[0], booked[0])
		if n := len(h.decisions(class)); n != 0 {
			h.t.Errorf("%d decisions without a waitlist", n)
		}
		h.edit(func(s *waitlist.Settings) { s.Enabled = nil })
		return class
	}},
	"the rules let more be asked": {by: waitlist.ByRules, free: func(h *house) tenant.SessionID {
		h.rules(func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(1) })
		class, waiters, o := h.offered()
		if _, err := h.decline(waiters[0], o, false); err != nil {
			h.t.Fatal(err)
		}
		h.edit(func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(2) })
		return class
	}},
	"the rules let windows reach further": {by: waitlist.ByRules, free: func(h *house) tenant.SessionID {
		class := h.session(slot{Starts: noon.Add(48 * time.Hour)}) // at 13:00
		h.waiters(1, h.window("2026-03-18", "2026-03-18", "10:00", "11:00"))
		h.edit(func(s *waitlist.Settings) { s.TimeFlexibility = new(2 * time.Hour) })
		return class
	}},
	"nobody noticed": {by: waitlist.BySweep, free: func(h *house) tenant.SessionID {
		class, _, booked := h.full(1)
		h.waiters(1, names(class))
		h.exec(`update bookings set status = 'CANCELLED', cancelled_at = $2 where id = $1`, booked[0], noon)
		h.exec(`update sessions set seats_taken = 0 where id = $1`, class)
		if done := h.sweep(); done.Mended != 1 {
			h.t.Errorf("%+v", done)
		}
		return class
	}},
}

func TestWhateverFreesSeatsWakesTheWaitlist(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			if way.mode == "" {
				way.mode = waitlist.OfferInTurn
			}
			h.mode(way.mode)
			class := way.free(h)
			if last := h.last(class); last.Case.Trigger != way.by {
				t.Errorf("the last decision was due to %s, want %s", last.Case.Trigger, way.by)
			} else if (last.Decision.Given == 0) != way.left {
				t.Errorf("%d of the seats were given: %+v", last.Decision.Given, last.Decision)
			}
			h.wantSound()
			h.wantDecisionsFollow(t)
			if done := h.sweep(); done.Mended != 0 {
				t.Errorf("the sweep finds something: %+v", done)
			}
		})
	}
}

// freeing are the functions that give seats back or put some on sale, each with a way above that runs through it. Whoever writes
// another has to say here how the waitlist hears of it.
var freeing = map[string]string{
	"cancel":     "a member cancels",
	"reschedule": "a booking moves away",
	"MarkNoShow": "somebody does not come",
	"markAbsent": "", // after the end: nobody can have the seats
	"endHold":    "a hold is given up",
	"accept":     "", // the booking takes them in the same breath
	// of package waitlist
	"Ending.Changes":     "an offer is declined",
	"Changes.closeRound": "a party claims fewer seats than were free",
	"TakenBack.Changes":  "a session gets fewer seats than are offered", // its callers fill them
}

// Every call that takes seats away from a counter is in a function that the table knows.
func TestNoWayOfFreeingSeatsIsForgotten(t *testing.T) {
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
	inEveryFunctionOf(t, "../rules/waitlist", func(receiver, name string, body *ast.BlockStmt) {
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

// Whatever writes sessions lets the waitlist hear of those on sale, and whatever writes its rules or policy of the seats that are open.
func TestNoWayOfOpeningSessionsIsForgotten(t *testing.T) {
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
				case "fillAll", "refill", "resettle", "lookAgain":
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
	if diff := cmp.Diff([]string{"attach", "callOff", "turn"}, silent); diff != "" {
		t.Error(diff)
	}
}

// inEveryFunction looks at the functions of the use cases; closures belong to the function they are in.
func inEveryFunction(t *testing.T, look func(name string, body *ast.BlockStmt)) {
	t.Helper()
	inEveryFunctionOf(t, ".", func(_, name string, body *ast.BlockStmt) { look(name, body) })
}

// inEveryFunctionOf looks at the functions of a package, with the types that they are methods of.
func inEveryFunctionOf(t *testing.T, dir string, look func(receiver, name string, body *ast.BlockStmt)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
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
func (h *house) edit(change func(*waitlist.Settings)) {
	h.t.Helper()
	h.tick()
	h.rules(change)
}

// held is a session all of whose seats are held, and for which somebody waits.
func (h *house) held(seats int) tenant.SessionID {
	h.t.Helper()
	class := h.session(slot{Capacity: seats, Waitlist: 9})
	for range seats {
		h.mustHold(h.member("Holder"), class)
	}
	h.waiters(1, names(class))
	return class
}

// offered is a session whose one seat is offered to the first of two who wait.
func (h *house) offered() (tenant.SessionID, []tenant.Caller, waitlist.Offer) {
	h.t.Helper()
	class, who, booked := h.full(1)
	waiters, entries := h.waiters(2, names(class))
	h.mustCancel(who[0], booked[0])
	return class, waiters, h.live(entries[0])
}

func (h *house) resize(id tenant.SessionID, seats int) {
	h.t.Helper()
	if _, _, err := h.app.UpdateSession(context.Background(), h.Owner, id, nil, session.Input{Capacity: &seats}, session.CapacityField); err != nil {
		h.t.Fatal(err)
	}
}

// shift moves a session of an hour to another time.
func (h *house) shift(id tenant.SessionID, to time.Time) {
	h.t.Helper()
	in := session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}
	if _, _, err := h.app.UpdateSession(context.Background(), h.Owner, id, nil, in, session.StartField|session.EndField); err != nil {
		h.t.Fatal(err)
	}
}

// week wishes for anything in the week of the tests.
func (h *house) week() app.JoinRequest { return h.window("2026-03-16", "2026-03-22", "00:00", "23:59") }

func (h *house) sessionOn(day string) tenant.SessionID {
	h.t.Helper()
	id, err := tenant.Parse[tenant.SessionID](h.queryText(`select id::text from sessions where tenant_id = $1 and local_date = $2::text::date`, h.Tenant, day))
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

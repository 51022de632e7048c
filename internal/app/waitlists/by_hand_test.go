package waitlists_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// inOrder tells in which order entries stand, by their numbers from 1.
func inOrder(h *testkit.Studio, ids []tenant.EntryID) string {
	h.T.Helper()
	at := make([]string, len(ids))
	for i, id := range ids {
		at[h.Entry(id).Position-1] = fmt.Sprint(i + 1)
	}
	return strings.Join(at, " ")
}

func TestMoveEntry_ChangesTheOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, order := range []waitlist.Order{waitlist.ByJoining, waitlist.ByPriority} {
		t.Run(string(order), func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetRules(func(s *waitlist.Settings) { s.Order, s.TierBonus = &order, &map[string]int{"gold": 50} })
			class, _, _ := h.AddFullSession(1)
			who, ids := h.AddWaiters(4, testkit.ForSessions(class))
			h.SetTier(who[0], "gold")
			step := func(entry, before int, want string) {
				t.Helper()
				var other tenant.EntryID
				if before > 0 {
					other = ids[before-1]
				}
				h.Tick()
				e, err := h.App.Waitlists.MoveEntry(ctx, h.Owner, ids[entry-1], other, "they asked")
				if err != nil {
					t.Fatal(err)
				}
				if got := inOrder(h, ids); got != want || e.Position != 1+slices.Index(strings.Fields(got), fmt.Sprint(entry)) {
					t.Errorf("%d before %d: %s (at %d), want %s", entry, before, got, e.Position, want)
				}
			}
			step(4, 1, "4 1 2 3")
			step(3, 1, "4 3 1 2")
			step(1, 0, "4 3 2 1") // though gold is worth more
			step(1, 0, "4 3 2 1")
			step(2, 2, "4 3 2 1")
			step(4, 0, "3 2 1 4")
			late := h.MustJoin(h.AddMember("Late"), testkit.ForSessions(class))
			if late.Position != 5 && order == waitlist.ByJoining {
				t.Errorf("whoever joins later stands at %d", late.Position)
			}
			if n := h.Count(
				`select count(*) from audit_entries where action = 'waitlist.moved' and reason = 'they asked'`,
			); n != 6 {
				t.Errorf("%d acts are on record", n)
			}
			h.WantSound()
			// What they see is what happens.
			resize(h, class, 2)
			h.WantEntries(map[tenant.EntryID]waitlist.Status{ids[2]: waitlist.Booked})
		})
	}
	h := testkit.New(t)
	class, _, _ := h.AddFullSession(1)
	other, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
	_, here := h.AddWaiters(1, testkit.ForSessions(class))
	_, there := h.AddWaiters(1, testkit.ForSessions(other))
	_, err := h.App.Waitlists.MoveEntry(ctx, h.Owner, here[0], there[0], "")
	testkit.WantReason(t, err, fault.InvalidField)
	_, err = h.App.Waitlists.MoveEntry(ctx, h.Owner, here[0], testkit.NewID[tenant.EntryID](), "")
	testkit.WantReason(t, err, fault.EntryNotFound)
	_, err = h.App.Waitlists.MoveEntry(ctx, h.OtherTenant().Owner, here[0], tenant.EntryID{}, "")
	testkit.WantReason(t, err, fault.EntryNotFound)
}

// The engine reads a line page by page; staff flags come first whatever page they are on.
func TestMoveEntry_KeepsOrderOfALongQueue(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(2, func(s *testkit.Session) { s.Waitlist = 1000 })
	queueUp(h, 330, class)
	// Nobody on the first pages fits: they need more seats than there are.
	h.Exec(`update waitlist_entries set party_size = 4 where tenant_id = $1 and note = 'in line' and join_key < (
	  select join_key from waitlist_entries where tenant_id = $1 order by join_key offset 250 limit 1)`, h.Tenant)
	next := h.Text(
		`select id::text from waitlist_entries where tenant_id = $1 and party_size = 1 order by join_key limit 1`, h.Tenant,
	)
	last := h.Text(`select id::text from waitlist_entries where tenant_id = $1 order by join_key desc limit 1`, h.Tenant)
	h.MustCancel(who[0], booked[0])
	if o := h.Offers(class); len(o) != 1 || o[0].Entry.String() != next {
		t.Errorf("%+v, want %s", o, next)
	}
	flagged, err := tenant.Parse[tenant.EntryID](last)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.App.Waitlists.SetPriority(
		context.Background(), h.Owner, flagged, waitlists.PriorityEdit{Flagged: new(true)},
	); err != nil {
		t.Fatal(err)
	}
	h.MustCancel(who[1], booked[1])
	h.WantEntries(map[tenant.EntryID]waitlist.Status{flagged: waitlist.Offered})
	wantDecisionsFollow(h, t)
	h.WantSound()
}

func TestOfferPlace_OffersToAnyEntry(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.Mode, s.Enabled = new(waitlist.OfferInTurn), new(true) })
	full, _, _ := h.AddFullSession(1)
	open := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour), Capacity: 2, Waitlist: 3})
	off := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour), Blocked: true})
	who, ids := h.AddWaiters(3, testkit.ForSessions(full))
	h.MustBook(who[2], open)
	offer := func(session tenant.SessionID, entry tenant.EntryID, until time.Time) (waitlist.Offer, error) {
		return h.App.Waitlists.OfferPlace(
			ctx, h.Owner, waitlists.OfferRequest{Session: session, Entry: entry, Until: until, Reason: "promised"},
		)
	}
	for name, tt := range map[string]struct {
		session tenant.SessionID
		entry   tenant.EntryID
		until   time.Time
		want    fault.Reason
	}{
		"a full session":            {full, ids[0], time.Time{}, fault.SessionFull},
		"off sale":                  {off, ids[0], time.Time{}, fault.SessionNotOpen},
		"ends in the past":          {open, ids[0], testkit.Noon, fault.InvalidField},
		"ends after booking closes": {open, ids[0], testkit.Noon.Add(72*time.Hour + time.Second), fault.InvalidField},
		"somebody who is in it":     {open, ids[2], time.Time{}, fault.AlreadyBooked},
		"an unknown session":        {testkit.NewID[tenant.SessionID](), ids[0], time.Time{}, fault.SessionNotFound},
		"an unknown entry":          {open, testkit.NewID[tenant.EntryID](), time.Time{}, fault.EntryNotFound},
		"another tenant's session": {
			h.OtherTenant().AddSession(testkit.Session{}), ids[0], time.Time{}, fault.SessionNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := offer(tt.session, tt.entry, tt.until)
			testkit.WantReason(t, err, tt.want)
		})
	}
	if _, err := offer(open, ids[0], testkit.Noon.Add(72*time.Hour)); err != nil { // the moment of closing
		t.Fatal(err)
	}
	o := h.LiveOffer(ids[0])
	if !o.ByHand || !o.ExpiresAt.Equal(testkit.Noon.Add(72*time.Hour)) || h.SeatsTaken(open) != 2 {
		t.Errorf("%+v", o)
	}
	_, err := offer(open, ids[0], time.Time{})
	testkit.WantReason(t, err, fault.BookingState)
	_, err = offer(open, ids[1], time.Time{})
	testkit.WantReason(t, err, fault.SessionFull)
	if _, err := h.Accept(who[0], o); err != nil {
		t.Fatal(err)
	}
	_, err = offer(open, ids[0], time.Time{})
	testkit.WantReason(t, err, fault.BookingState)
	if n := h.Count(`select count(*) from audit_entries where action = 'offer.made' and reason = 'promised'`); n != 1 {
		t.Errorf("%d acts are on record", n)
	}
	if d := h.LastDecision(open); d.Case.Trigger != waitlist.ByHand {
		t.Errorf("%+v", d)
	}
	h.WantSound()
}

func TestUpdateRules_StoresVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	edit := func(
		target settings.PolicyTarget, expect *int, reason string, change func(*waitlist.Settings),
	) (waitlist.Effective, error) {
		return h.App.Settings.UpdateRules(
			ctx, h.Owner, settings.RulesEdit{Target: target, Expect: expect, Reason: reason, Edit: change},
		)
	}
	here, this := settings.PolicyTarget{Location: h.Location}, settings.PolicyTarget{
		Location: h.Location, Service: h.Service,
	}
	if e, err := edit(
		settings.PolicyTarget{}, new(0), "one", func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) },
	); err != nil || e.Version != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err := edit(
		here, new(0), "two", func(s *waitlist.Settings) { s.MaxQueueSize, s.OfferWindow = new(7), new(2*time.Hour) },
	); err != nil {
		t.Fatal(err)
	}
	if _, err := edit(this, nil, "three", func(s *waitlist.Settings) { s.MaxQueueSize = new(9) }); err != nil {
		t.Fatal(err)
	}
	_, err := edit(here, new(1), "stale", func(s *waitlist.Settings) { s.MaxQueueSize = new(1) })
	testkit.WantReason(t, err, fault.ETagMismatch)
	e, err := h.App.Settings.GetRules(ctx, h.Coach, this)
	if err != nil || e.Rules.MaxQueueSize != 9 || e.Rules.OfferWindow != 2*time.Hour || e.Version != 3 ||
		e.Origins["MaxQueueSize"] != catalog.ServiceLevel || e.Origins["OfferWindow"] != catalog.LocationLevel ||
		e.Origins["Mode"] != catalog.Default {
		t.Errorf("%+v, %v", e, err)
	}
	// Saying the same again is no edit; saying nothing any more is.
	if e, err := edit(here, new(2), "again", func(s *waitlist.Settings) { s.MaxQueueSize = new(7) }); err != nil ||
		e.Version != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := edit(here, nil, "reset", nil); err != nil || e.Rules.OfferWindow != time.Hour || e.Version != 4 {
		t.Errorf("%+v, %v", e, err)
	}
	versions, err := h.App.Settings.ListRulesVersions(ctx, h.Owner, settings.PolicyTarget{}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range versions {
		got = append(got, fmt.Sprint(v.Version, " ", v.Level, " ", v.Reason, " ", v.AuthorName, " ", v.Reset))
	}
	if diff := cmp.Diff(
		[]string{
			"4 LOCATION reset Olga Owner true", "3 SERVICE three Olga Owner false", "2 LOCATION two Olga Owner false",
			"1 TENANT one Olga Owner false",
		},
		got,
	); diff != "" {
		t.Error(diff)
	}
	if n := h.Count(
		`select count(*) from audit_entries where action = 'rules.updated' and target_id = $1 and reason = 'reset'
			and changes ?& '{before,after}'`,
		h.Location.String(),
	); n != 1 {
		t.Errorf("the reset is on record %d times", n)
	}
	_, err = edit(
		settings.PolicyTarget{}, nil, "",
		func(s *waitlist.Settings) { s.EligibilityExpression = new("member.tier ==\n  1 +") },
	)
	testkit.WantReason(t, err, fault.RulesInvalid)
	if testkit.Meta(t, err, "line") != "2" {
		t.Errorf("%v", err)
	}
	_, err = edit(settings.PolicyTarget{Location: h.OtherTenant().Location}, nil, "", func(*waitlist.Settings) {})
	testkit.WantReason(t, err, fault.LocationNotFound)
	// Two who edit at the same moment both do.
	testkit.Parallel(4, func(i int) {
		if _, err := edit(
			settings.PolicyTarget{}, nil, "at once", func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(20 + i) },
		); err != nil {
			t.Error(err)
		}
	})
	if n := h.Count(`select max(version) from waitlist_rules_versions`); n != 8 {
		t.Errorf("%d versions", n)
	}
}

func TestPreviewRules_ChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(1)
	waiters, ids := h.AddWaiters(2, testkit.ForSessions(class))
	h.SetTier(waiters[1], "gold")
	h.MustCancel(who[0], booked[0])
	dump := func() string {
		var all []string
		for table := range strings.FieldsSeq(
			h.Text(
				`select string_agg(relname, ' ' order by relname) from pg_class where relkind = 'r'
					and relnamespace = 'public'::regnamespace`,
			),
		) {
			all = append(
				all, table+" "+h.Text(`select md5(coalesce(string_agg(x::text, '|' order by x::text), '')) from `+table+` x`),
			)
		}
		return strings.Join(all, "\n")
	}
	before := dump()
	draft := settings.RulesDraft{Limit: 50, Edit: func(s *waitlist.Settings) {
		s.Order, s.TierBonus = new(waitlist.ByPriority), &map[string]int{"gold": 50}
	}}
	past, name, err := h.App.Settings.PreviewRules(ctx, h.Owner, draft)
	if err != nil || len(past) != 1 {
		t.Fatalf("%+v, %v", past, err)
	}
	d := past[0].Difference
	if len(d.Gained) != 1 || d.Gained[0].Entry != ids[1] || len(d.Lost) != 1 || d.Lost[0].Entry != ids[0] ||
		name(d.Gained[0].Member) != "Waiter 1" {
		t.Errorf("%+v", d)
	}
	draft.Edit = func(s *waitlist.Settings) { s.PriorityExpression = new("nonsense(") }
	_, _, err = h.App.Settings.PreviewRules(ctx, h.Owner, draft)
	testkit.WantReason(t, err, fault.RulesInvalid)
	if after := dump(); after != before {
		t.Errorf("something has changed:\n%s", cmp.Diff(before, after))
	}
}

// Every decision can be told, to staff with names, to a member without anybody else's.
func TestExplain_GivesReasonForEachEntry(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) {
		s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new(`member.tier != "banned"`)
	})
	class, who, booked := h.AddFullSession(1)
	waiters, ids := h.AddWaiters(3, testkit.ForSessions(class))
	h.SetTier(waiters[0], "banned")
	h.MustCancel(who[0], booked[0])
	if _, err := h.Decline(waiters[1], h.LiveOffer(ids[1]), false); err != nil {
		t.Fatal(err)
	}
	story, err := h.App.Waitlists.ExplainSession(ctx, h.Owner, class)
	if err != nil || len(story.Decisions) != 2 || len(story.Offers) != 2 || len(story.Entries) != 3 ||
		story.Name(waiters[0].Member) != "Waiter 0" {
		t.Fatalf("%+v, %v", story, err)
	}
	reasons := func(d waitlists.DecisionRecord) string {
		var all []string
		for _, v := range d.Decision.Verdicts {
			all = append(all, v.Reason)
		}
		return strings.Join(all, " ")
	}
	if got := reasons(story.Decisions[0]); got != "NOT_ELIGIBLE OFFERED NO_SEATS_LEFT" {
		t.Error(got)
	}
	if got := reasons(story.Decisions[1]); got != "NOT_ELIGIBLE TRIED OFFERED" ||
		story.Decisions[1].Decision.Move != waitlist.RollOn {
		t.Error(got)
	}
	mine, err := h.App.Waitlists.ExplainEntry(ctx, testkit.SelfOnly(waiters[0]), ids[0])
	if err != nil || len(mine.Decisions) != 2 || mine.Name(waiters[1].Member) != "" || len(mine.Offers) != 0 {
		t.Errorf("%+v, %v", mine, err)
	}
	_, err = h.App.Waitlists.ExplainEntry(ctx, testkit.SelfOnly(waiters[0]), ids[1])
	testkit.WantReason(t, err, fault.EntryNotFound)
	_, err = h.App.Waitlists.ExplainSession(ctx, h.OtherTenant().Owner, class)
	testkit.WantReason(t, err, fault.SessionNotFound)
	// Later rules do not change what was decided.
	h.SetRules(func(s *waitlist.Settings) { s.EligibilityExpression = new("true") })
	wantDecisionsFollow(h, t)
}

// Nobody fits, and all were asked: both leave a note.
func TestStaffNotes_ReportUnfilledSeats(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(1)
	h.MustJoin(h.AddMember("Party"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
	h.MustCancel(who[0], booked[0])
	if d := h.LastDecision(class); d.Decision.Move != waitlist.NobodyFits || d.Note == "" {
		t.Errorf("%+v", d)
	}
	if n := h.Count(`select count(*) from events where type = 'waitlist.staff_note' and session_id = $1`, class); n != 1 {
		t.Errorf("%d notes", n)
	}
	h.WantSound()
}

func TestSweep_RepairsDamage(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.FirstToClaim)
	class, who, booked := h.AddFullSession(1)
	_, ids := h.AddWaiters(2, testkit.ForSessions(class))
	h.MustCancel(who[0], booked[0])
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("without damage: %+v", done)
	}
	h.Exec(`update waitlist_offers set status = 'WITHDRAWN', closed_at = $1`, testkit.Noon) // damage
	h.Tick()
	if done := h.Sweep(); done.Mended != 3 { // two entries and a round
		t.Errorf("%+v", done)
	}
	_ = ids
	h.WantSound()
	if done := h.Sweep(); done.Mended != 0 {
		t.Errorf("again: %+v", done)
	}
}

func TestSweep_EndsStaleEntries(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.ExpireStale, s.StaleAfter = new(true), new(72*time.Hour) })
	soon, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(2*time.Hour)))
	later, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(200*time.Hour)))
	_, named := h.AddWaiters(1, testkit.ForSessions(soon))
	_, stale := h.AddWaiters(1, testkit.ForSessions(later))
	_, both := h.AddWaiters(1, testkit.ForSessions(soon, later))
	_, window := h.AddWaiters(1, h.ForWindow("2026-03-16", "2026-03-17", "08:00", "09:00"))
	// all is what is expected of them after a sweep, by initials.
	all := func(want string) {
		t.Helper()
		h.Sweep()
		var got []string
		for _, id := range []tenant.EntryID{named[0], both[0], window[0], stale[0]} {
			got = append(got, string(h.Entry(id).Status)[:1])
		}
		if s := strings.Join(got, ""); s != want {
			t.Errorf("at %s: %s, want %s", h.Clock.Now(), s, want)
		}
		h.WantSound()
	}
	all("WWWW")
	h.Clock.Set(testkit.Noon.Add(2 * time.Hour))
	all("EWWW")
	h.Clock.Set(testkit.UTC("2026-03-17T23:01:00Z")) // a minute after midnight in Berlin
	all("EWEW")
	h.Clock.Set(testkit.Noon.Add(73 * time.Hour))
	all("EEEE")
}

func TestWaitlistAnalytics_CountsOutcomes(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(2)
	waiters, ids := h.AddWaiters(4, testkit.ForSessions(class))
	h.MustCancel(who[0], booked[0]) // to the first, who declines after ten minutes; the second accepts after five
	h.Clock.Set(h.Clock.Now().Add(10*time.Minute - time.Millisecond))
	if _, err := h.Decline(waiters[0], h.LiveOffer(ids[0]), true); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(h.Clock.Now().Add(5*time.Minute - time.Millisecond))
	if _, err := h.Accept(waiters[1], h.LiveOffer(ids[1])); err != nil {
		t.Fatal(err)
	}
	h.MustCancel(who[1], booked[1]) // to the third, whose offer runs out; then to the fourth
	h.Clock.Set(h.LiveOffer(ids[2]).ExpiresAt)
	if _, _, err := h.App.Waitlists.ExpireDueOffers(context.Background(), h.Tenant); err != nil {
		t.Fatal(err)
	}
	figures, err := h.App.Waitlists.WaitlistAnalytics(
		context.Background(), h.Owner,
		waitlists.WaitlistQuery{
			Span: civil.Span{Start: testkit.Noon.Add(-12 * time.Hour), End: testkit.Noon.Add(156 * time.Hour)},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	total := figures.Total
	want := waitlist.Tally{
		Entries: 4, Active: 2, Booked: 1, Offers: 4, Accepted: 1, Declined: 1, RanOut: 1, Live: 1,
		ResponseTime: 15 * time.Minute, Tries: 2,
	}
	if diff := cmp.Diff(want, total.Tally); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int]int{2: 1}, total.Depths); diff != "" {
		t.Error(diff)
	}
	if total.AcceptanceRate() != 0.25 || total.ConversionRate() != 0.25 || total.CascadeDepth() != 2 ||
		total.AverageResponse() != 7*time.Minute+30*time.Second {
		t.Errorf("%+v", total)
	}
	if len(figures.Days) != 1 || figures.Days[0].Key != "2026-03-16" || len(figures.Locations) != 1 ||
		figures.Locations[0].Name != "Pier 1" || figures.Services[0].Name != "Vinyasa" {
		t.Errorf("%+v", figures)
	}
	other, err := h.App.Waitlists.WaitlistAnalytics(
		context.Background(), h.OtherTenant().Owner,
		waitlists.WaitlistQuery{
			Span: civil.Span{Start: testkit.Noon.Add(-12 * time.Hour), End: testkit.Noon.Add(156 * time.Hour)},
		},
	)
	if err != nil || other.Total.Entries+other.Total.Offers != 0 {
		t.Errorf("%+v, %v", other, err)
	}
}

// What happens is counted once it is durable, by its status.
func TestStats_CountChanges(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(1)
	waiters, ids := h.AddWaiters(2, testkit.ForSessions(class))
	h.MustCancel(who[0], booked[0])
	var tallies []waitlists.Stats
	claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	later := testkit.NewClock(h.Clock.Now().Add(10 * time.Minute))
	node := app.New(app.Config{
		DB: h.DB.DB, Now: later.Now, Claims: claims, Stats: func(one waitlists.Stats) { tallies = append(tallies, one) },
	})
	if _, err := node.Waitlists.DeclineOffer(
		context.Background(), testkit.SelfOnly(waiters[0]), h.LiveOffer(ids[0]).ID, true, "",
	); err != nil {
		t.Fatal(err)
	}
	later.Set(later.Now().Add(time.Minute))
	if _, err := node.Waitlists.AcceptOffer(
		context.Background(), testkit.SelfOnly(waiters[1]), h.LiveOffer(ids[1]).ID, tenant.SubscriptionID{},
	); err != nil {
		t.Fatal(err)
	}
	_, err = node.Waitlists.AcceptOffer(
		context.Background(), testkit.SelfOnly(waiters[0]), h.Offers(class)[0].ID, tenant.SubscriptionID{},
	)
	testkit.WantReason(t, err, fault.OfferNotLive)
	want := waitlists.Stats{
		Entries:   map[waitlist.Status]int{waitlist.Cancelled: 1, waitlist.Booked: 1},
		Offers:    map[waitlist.OfferStatus]int{waitlist.Declined: 1, waitlist.Live: 1, waitlist.Accepted: 1},
		Responses: []time.Duration{10 * time.Minute, time.Minute}, Depths: []int{2},
	}
	got := waitlists.Stats{Entries: make(map[waitlist.Status]int), Offers: make(map[waitlist.OfferStatus]int)}
	for _, one := range tallies {
		for status, n := range one.Entries {
			got.Entries[status] += n
		}
		for status, n := range one.Offers {
			got.Offers[status] += n
		}
		got.Responses, got.Depths = append(got.Responses, one.Responses...), append(got.Depths, one.Depths...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

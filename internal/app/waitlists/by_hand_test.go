package waitlists_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/rules/waitstats"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// inOrder tells in which order entries stand, by their numbers from 1.
func inOrder(studio *testkit.Studio, ids []tenant.EntryID) string {
	studio.T.Helper()
	at := make([]string, len(ids))
	for i, id := range ids {
		at[studio.Entry(id).Position-1] = fmt.Sprint(i + 1)
	}
	return strings.Join(at, " ")
}

func TestMoveEntry_ChangesTheOrder(t *testing.T) {
	t.Parallel()
	for _, order := range []waitlist.Order{waitlist.ByJoining, waitlist.ByPriority} {
		t.Run(string(order), func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			studio.SetRules(func(s *waitlist.Settings) { s.Order, s.TierBonuses = &order, &map[string]int{"gold": 50} })
			class, _, _ := studio.AddFullSession(1)
			who, ids := studio.AddWaiters(4, testkit.ForSessions(class))
			studio.SetTier(who[0], "gold")
			step := func(entry, before int, want string) {
				t.Helper()
				var other tenant.EntryID
				if before > 0 {
					other = ids[before-1]
				}
				studio.Tick()
				e := expect.Value(studio.App.Waitlists.MoveWaitlistEntry(
					t.Context(), studio.Owner, ids[entry-1], other, "they asked",
				))(t)
				got := inOrder(studio, ids)
				test.EqOp(t, want, got,
					test.Sprintf("%d before %d: %s (at %d), want %s", entry, before, got, e.Position, want))
				test.EqOp(t, 1+slices.Index(strings.Fields(got), fmt.Sprint(entry)), e.Position,
					test.Sprintf("%d before %d: %s (at %d), want %s", entry, before, got, e.Position, want))
			}
			step(4, 1, "4 1 2 3")
			step(3, 1, "4 3 1 2")
			step(1, 0, "4 3 2 1") // though gold is worth more
			step(1, 0, "4 3 2 1")
			step(2, 2, "4 3 2 1")
			step(4, 0, "3 2 1 4")
			step(1, 2, "3 1 2 4")
			for range 13 { // others make room for the entry if they have to
				step(4, 2, "3 1 4 2")
				step(1, 2, "3 4 1 2")
			}
			step(4, 0, "3 1 2 4")
			step(2, 1, "3 2 1 4")
			late := studio.MustJoin(studio.AddMember("Late"), testkit.ForSessions(class))
			test.False(
				t, late.Position != 5 && order == waitlist.ByJoining,
				test.Sprintf("an entry that joins later stands at %d", late.Position),
			)
			test.EqOp(t, 35, studio.Count(
				`select count(*) from audit_entries where action = 'waitlist_entry.moved' and reason = 'they asked'`,
			), test.Sprint("acts are on record"))
			studio.WantSound()
			// What they see is what happens.
			resize(studio, class, 2)
			studio.WantEntries(map[tenant.EntryID]waitlist.Status{ids[2]: waitlist.Offered})
		})
	}
	studio := testkit.New(t)
	class, _, _ := studio.AddFullSession(1)
	other, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
	_, here := studio.AddWaiters(1, testkit.ForSessions(class))
	_, there := studio.AddWaiters(1, testkit.ForSessions(other))
	expect.OK(t)(studio.App.Waitlists.MoveWaitlistEntry(
		t.Context(), studio.Owner, here[0], tenant.EntryID{}, "",
	)) // it is alone
	expect.Reason(t, fault.InvalidField)(studio.App.Waitlists.MoveWaitlistEntry(
		t.Context(), studio.Owner, here[0], there[0], "",
	))
	expect.Reason(t, fault.WaitlistEntryNotFound)(
		studio.App.Waitlists.MoveWaitlistEntry(t.Context(), studio.Owner, here[0], testkit.NewID[tenant.EntryID](), ""),
	)
	expect.Reason(t, fault.WaitlistEntryNotFound)(
		studio.App.Waitlists.MoveWaitlistEntry(t.Context(), studio.OtherTenant().Owner, here[0], tenant.EntryID{}, ""),
	)
}

// The engine reads a line page by page; staff flags come first whatever page they are on.
func TestMoveEntry_KeepsOrderOfALongQueue(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(2, func(s *testkit.Session) { s.Waitlist = 1000 })
	queueUp(studio, 330, class)
	// No entry of the first pages fits: they need more seats than there are.
	studio.Exec(`update waitlist_entries set party_size = 4 where tenant_id = $1 and note = 'in line' and join_key < (
	  select join_key from waitlist_entries where tenant_id = $1 order by join_key offset 250 limit 1)`, studio.Tenant)
	next := studio.Text(
		`select id::text from waitlist_entries where tenant_id = $1 and party_size = 1 order by join_key limit 1`,
		studio.Tenant,
	)
	last := studio.Text(
		`select id::text from waitlist_entries where tenant_id = $1 order by join_key desc limit 1`, studio.Tenant,
	)
	studio.MustCancel(who[0], booked[0])
	o := studio.Offers(class)
	must.SliceLen(t, 1, o, must.Sprintf("%+v, want %s", o, next))
	test.EqOp(t, next, o[0].Entry.String(), test.Sprintf("%+v, want %s", o, next))
	flagged := expect.Value(tenant.Parse[tenant.EntryID](last))(t)
	expect.OK(t)(studio.App.Waitlists.SetWaitlistPriority(
		context.Background(), studio.Owner, flagged, waitlists.PriorityEdit{Flagged: new(true)},
	))
	studio.MustCancel(who[1], booked[1])
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{flagged: waitlist.Offered})
	wantDecisionsFollow(studio, t)
	studio.WantSound()
}

func TestOfferPlace_OffersToAnyEntry(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) { s.Mode, s.Enabled = new(waitlist.OfferInTurn), new(true) })
	full, _, _ := studio.AddFullSession(1)
	open := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour), Capacity: 2, Waitlist: 3})
	off := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour), Blocked: true})
	who, ids := studio.AddWaiters(3, testkit.ForSessions(full))
	studio.MustBook(who[2], open)
	offer := func(session tenant.SessionID, entry tenant.EntryID, until time.Time) (waitlist.Offer, error) {
		return studio.App.Waitlists.CreateWaitlistOffer(
			t.Context(), studio.Owner, waitlists.OfferRequest{Session: session, Entry: entry, Until: until, Reason: "promised"},
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
		"a member with a booking":   {open, ids[2], time.Time{}, fault.AlreadyBooked},
		"an unknown session":        {testkit.NewID[tenant.SessionID](), ids[0], time.Time{}, fault.SessionNotFound},
		"an unknown entry":          {open, testkit.NewID[tenant.EntryID](), time.Time{}, fault.WaitlistEntryNotFound},
		"another tenant's session": {
			studio.OtherTenant().AddSession(testkit.Session{}), ids[0], time.Time{}, fault.SessionNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Reason(t, tt.want)(offer(tt.session, tt.entry, tt.until))
		})
	}
	made := expect.Value(offer(open, ids[0], testkit.Noon.Add(72*time.Hour)))(t) // the moment of closing
	o := studio.LiveOffer(ids[0])
	test.EqOp(t, o.MemberName, made.MemberName)
	test.EqOp(t, o.SessionTitle, made.SessionTitle)
	test.EqOp(t, o.TimeZone, made.TimeZone)
	test.Eq(t, o.SessionStarts, made.SessionStarts)
	test.Eq(t, o.SessionEnds, made.SessionEnds)
	test.True(t, o.ByHand, test.Sprintf("%+v", o))
	test.True(t, o.ExpiresAt.Equal(testkit.Noon.Add(72*time.Hour)), test.Sprintf("%+v", o))
	test.EqOp(t, 2, studio.SeatsTaken(open))
	expect.Fault(t, "WAITLIST_ENTRY_STATE status=OFFERED")(offer(open, ids[0], time.Time{}))
	expect.Reason(t, fault.SessionFull)(offer(open, ids[1], time.Time{}))
	expect.OK(t)(studio.Accept(who[0], o))
	expect.Fault(t, "WAITLIST_ENTRY_STATE status=BOOKED")(offer(open, ids[0], time.Time{}))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from audit_entries where action = 'waitlist_offer.created' and reason = 'promised'`,
	), test.Sprint("acts are on record"))
	d := studio.LastDecision(open)
	test.EqOp(t, waitlist.ByHand, d.Case.Trigger, test.Sprintf("%+v", d))
	history := expect.Value(studio.App.Waitlists.ExplainWaitlistEntry(t.Context(), studio.Owner, ids[0]))(t)
	must.SliceLen(t, 1, history.Decisions)
	test.EqOp(t, d.ID, history.Decisions[0].ID)
}

// Staff may offer a place to a member whom no plan pays for, unless the entry names the one that pays.
func TestOfferPlace_NeedsNoPlan(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]fault.Reason{"any": "", "named": fault.NoCredits}, func(
		studio *testkit.Studio, want fault.Reason,
	) {
		full, _, _ := studio.AddFullSession(1)
		mia := studio.AddMember("Mia")
		pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
		target := testkit.ForSessions(full)
		if want != "" {
			target.Subscription = pack.ID
		}
		id := studio.MustJoin(mia, target).ID
		studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
		expect.Reason(studio.T, want)(studio.App.Waitlists.CreateWaitlistOffer(
			context.Background(), studio.Owner, waitlists.OfferRequest{
				Session: studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour)}), Entry: id,
			},
		))
	})
}

func TestUpdateRules_StoresVersions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	edit := func(
		target settings.PolicyTarget, expect *int, reason string, change func(*waitlist.Settings),
	) (waitlist.EffectiveRules, error) {
		return studio.App.Settings.UpdateWaitlistRules(
			t.Context(), studio.Owner, settings.RulesEdit{Target: target, Expect: expect, Reason: reason, Edit: change},
		)
	}
	here, this := settings.PolicyTarget{Location: studio.Location}, settings.PolicyTarget{
		Location: studio.Location, Service: studio.Service,
	}
	e := expect.Value(edit(
		settings.PolicyTarget{}, new(0), "one", func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) },
	))(t)
	test.EqOp(t, 1, e.Version)
	expect.OK(t)(edit(
		here, new(0), "two", func(s *waitlist.Settings) { s.MaxQueueSize, s.OfferWindow = new(7), new(2*time.Hour) },
	))
	expect.OK(t)(edit(this, nil, "three", func(s *waitlist.Settings) { s.MaxQueueSize = new(9) }))
	expect.Reason(t, fault.ETagMismatch)(
		edit(here, new(1), "stale", func(s *waitlist.Settings) { s.MaxQueueSize = new(1) }),
	)
	e = expect.Value(studio.App.Settings.GetWaitlistRules(t.Context(), studio.Coach, this))(t)
	test.EqOp(t, 9, e.Rules.MaxQueueSize)
	test.EqOp(t, 2*time.Hour, e.Rules.OfferWindow)
	test.EqOp(t, 3, e.Version)
	test.EqOp(t, catalog.ServiceLevel, e.Origins["MaxQueueSize"])
	test.EqOp(t, catalog.LocationLevel, e.Origins["OfferWindow"])
	test.EqOp(t, catalog.Default, e.Origins["Mode"])
	// Saying the same again is no edit; saying nothing any more is.
	e = expect.Value(edit(here, new(2), "again", func(s *waitlist.Settings) { s.MaxQueueSize = new(7) }))(t)
	test.EqOp(t, 2, e.Version)
	e = expect.Value(edit(here, nil, "reset", nil))(t)
	test.EqOp(t, time.Hour, e.Rules.OfferWindow)
	test.EqOp(t, 4, e.Version)
	for target, want := range map[settings.PolicyTarget][]string{
		{}: {
			"4 LOCATION reset Olga Owner true", "3 SERVICE three Olga Owner false", "2 LOCATION two Olga Owner false",
			"1 TENANT one Olga Owner false",
		},
		here: {"4 LOCATION reset Olga Owner true", "2 LOCATION two Olga Owner false"},
		this: {"3 SERVICE three Olga Owner false"},
	} {
		var got []string
		for _, v := range expect.Value(studio.App.Settings.ListWaitlistRulesVersions(
			t.Context(), studio.Owner, target, 0, 0,
		))(t) {
			got = append(got, fmt.Sprint(v.Version, " ", v.Level, " ", v.Reason, " ", v.ActorName, " ", v.Reset))
		}
		test.Eq(t, want, got)
	}
	test.EqOp(t, 1, studio.Count(
		`select count(*) from audit_entries where action = 'waitlist_rules.updated' and target_id = $1 and reason = 'reset'
			and changes ?& '{before,after}'`,
		studio.Location.String(),
	), test.Sprint("the reset is on record times"))
	invalid := expect.Reason(t, fault.RulesInvalid)(edit(
		settings.PolicyTarget{}, nil, "",
		func(s *waitlist.Settings) { s.EligibilityExpression = new("member.tier ==\n  1 +") },
	))
	test.EqOp(t, "2", invalid.Metadata["line"])
	expect.Reason(t, fault.LocationNotFound)(
		edit(settings.PolicyTarget{Location: studio.OtherTenant().Location}, nil, "", func(*waitlist.Settings) {}),
	)
	// A service account has no member's name.
	expect.OK(t)(studio.App.Settings.UpdateWaitlistRules(t.Context(), studio.AddPartner("Robot"), settings.RulesEdit{
		Edit: func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(19) },
	}))
	// Two who edit at the same moment both do.
	testkit.Parallel(4, func(i int) {
		expect.OK(t)(edit(
			settings.PolicyTarget{}, nil, "at once", func(s *waitlist.Settings) { s.MaxTriesPerSlot = new(20 + i) },
		))
	})
	test.EqOp(t, 9, studio.Count(`select max(version) from waitlist_rules_versions`), test.Sprint("versions"))
}

func TestPreviewRules_ChangesNothing(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(1)
	waiters, ids := studio.AddWaiters(2, testkit.ForSessions(class))
	studio.SetTier(waiters[1], "gold")
	studio.MustCancel(who[0], booked[0])
	massage := studio.AddService(catalog.Service{Name: "Massage"})
	dump := func() string {
		var all []string
		for table := range strings.FieldsSeq(
			studio.Text(
				`select string_agg(relname, ' ' order by relname) from pg_class where relkind = 'r'
					and relnamespace = 'public'::regnamespace`,
			),
		) {
			all = append(
				all, table+" "+studio.Text(`select md5(coalesce(string_agg(x::text, '|' order by x::text), '')) from `+table+` x`),
			)
		}
		return strings.Join(all, "\n")
	}
	before := dump()
	draft := settings.RulesDraft{Limit: 50, Edit: func(s *waitlist.Settings) {
		s.Order, s.TierBonuses = new(waitlist.ByPriority), &map[string]int{"gold": 50}
	}}
	past, name, err := studio.App.Settings.PreviewWaitlistRules(t.Context(), studio.Owner, draft)
	must.NoError(t, err)
	must.SliceLen(t, 1, past)
	d := past[0].Difference
	must.SliceLen(t, 1, d.Gained)
	test.EqOp(t, ids[1], d.Gained[0].Entry)
	must.SliceLen(t, 1, d.Lost)
	test.EqOp(t, ids[0], d.Lost[0].Entry)
	test.EqOp(t, "Waiter 1", name(d.Gained[0].Member))
	draft.Target.Service = testkit.NewID[tenant.ServiceID]()
	expect.Reason(t, fault.ServiceNotFound)(studio.App.Settings.PreviewWaitlistRules(t.Context(), studio.Owner, draft))
	draft.Target.Service = massage
	past, _, err = studio.App.Settings.PreviewWaitlistRules(t.Context(), studio.Owner, draft)
	test.NoError(t, err, test.Sprintf("decisions about another service: %+v, %v", past, err))
	test.SliceEmpty(t, past, test.Sprintf("decisions about another service: %+v, %v", past, err))
	draft.Target.Service = tenant.ServiceID{}
	draft.Edit = func(s *waitlist.Settings) { s.PriorityExpression = new("nonsense(") }
	expect.Reason(t, fault.RulesInvalid)(studio.App.Settings.PreviewWaitlistRules(t.Context(), studio.Owner, draft))
	after := dump()
	test.EqOp(t, before, after, test.Sprintf("something has changed:\n%s", cmp.Diff(before, after)))
	// What a location says counts more than the draft for all of them, and what staff decide no rules decide.
	expect.OK(t)(studio.App.Settings.UpdateWaitlistRules(t.Context(), studio.Owner, settings.RulesEdit{
		Target: settings.PolicyTarget{Location: studio.Location},
		Edit:   func(s *waitlist.Settings) { s.Order = new(waitlist.ByJoining) },
	}))
	expect.OK(t)(studio.App.Waitlists.CreateWaitlistOffer(t.Context(), studio.Owner, waitlists.OfferRequest{
		Session: studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour)}), Entry: ids[1],
	}))
	draft.Edit = func(s *waitlist.Settings) {
		s.Order, s.TierBonuses = new(waitlist.ByPriority), &map[string]int{"gold": 50}
	}
	past, _, err = studio.App.Settings.PreviewWaitlistRules(t.Context(), studio.Owner, draft)
	must.NoError(t, err)
	must.SliceLen(t, 1, past)
	test.SliceEmpty(t, past[0].Difference.Gained)
}

// Every decision can be explained: to staff with names, to a member without the names of others.
func TestExplain_GivesReasonForEachEntry(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) {
		s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new(`member.tier != "banned"`)
	})
	class, who, booked := studio.AddFullSession(1)
	banned := studio.AddMember("Banned")
	target := studio.MustJoin(banned, studio.ForWindow("2026-03-18", "2026-03-19", "00:00", "23:00")).ID
	studio.SetTier(banned, "banned")
	waiters, ids := studio.AddWaiters(2, testkit.ForSessions(class))
	studio.MustCancel(who[0], booked[0])
	expect.OK(t)(studio.Decline(waiters[0], studio.LiveOffer(ids[0]), false))
	history := expect.Value(studio.App.Waitlists.ExplainSessionWaitlist(t.Context(), studio.Owner, class))(t)
	must.SliceLen(t, 2, history.Decisions)
	must.SliceLen(t, 2, history.Offers)
	must.EqOp(t, ids[0], history.Offers[0].Entry)
	must.SliceLen(t, 2, history.Entries)
	must.EqOp(t, "Waiter 0", history.Name(waiters[0].Member))
	reasons := func(d waitlists.DecisionRecord) string {
		var all []string
		for _, v := range d.Decision.Verdicts {
			all = append(all, string(v.Reason))
		}
		return strings.Join(all, " ")
	}
	test.EqOp(t, "NOT_ELIGIBLE OFFERED NO_SEATS_LEFT", reasons(history.Decisions[0]))
	got := reasons(history.Decisions[1])
	test.EqOp(t, "NOT_ELIGIBLE TRIED OFFERED", got)
	test.EqOp(t, waitlist.RollOn, history.Decisions[1].Decision.Move)
	expect.OK(t)(studio.App.Waitlists.CreateWaitlistOffer(t.Context(), studio.Owner, waitlists.OfferRequest{
		Session: studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour)}), Entry: target,
	}))
	mine := expect.Value(studio.App.Waitlists.ExplainWaitlistEntry(t.Context(), testkit.SelfOnly(banned), target))(t)
	must.SliceLen(t, 4, mine.Decisions)
	test.EqOp(t, "", mine.Name(waiters[0].Member))
	test.SliceLen(t, 1, mine.Offers)
	expect.Reason(t, fault.WaitlistEntryNotFound)(studio.App.Waitlists.ExplainWaitlistEntry(
		t.Context(), testkit.SelfOnly(banned), ids[0],
	))
	expect.Reason(t, fault.SessionNotFound)(studio.App.Waitlists.ExplainSessionWaitlist(
		t.Context(), studio.OtherTenant().Owner, class,
	))
	// Later rules do not change what was decided.
	studio.SetRules(func(s *waitlist.Settings) { s.EligibilityExpression = new("true") })
	wantDecisionsFollow(studio, t)
	// Its entries are told by their positions.
	expect.OK(t)(studio.App.Waitlists.SetWaitlistPriority(
		t.Context(), studio.Owner, ids[1], waitlists.PriorityEdit{Flagged: new(true)},
	))
	history = expect.Value(studio.App.Waitlists.ExplainSessionWaitlist(t.Context(), studio.Owner, class))(t)
	test.EqOp(t, ids[1], history.Entries[0].ID)
}

// No entry fits, or all had an offer: both leave a note.
func TestStaffNotes_ReportUnfilledSeats(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(1)
	studio.MustJoin(studio.AddMember("Party"), waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2})
	studio.MustCancel(who[0], booked[0])
	d := studio.LastDecision(class)
	test.EqOp(t, waitlist.NobodyFits, d.Decision.Move)
	test.NotEqOp(t, "", d.Note)
	test.EqOp(t, 1, studio.Count(
		`select count(*) from events where type = 'waitlist.staff_note' and session_id = $1`, class,
	), test.Sprint("notes"))
}

func TestSweep_RepairsDamage(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.FirstToClaim)
	class, who, booked := studio.AddFullSession(1)
	studio.AddWaiters(2, testkit.ForSessions(class))
	studio.MustCancel(who[0], booked[0])
	test.EqOp(t, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("without damage"))
	studio.Exec(
		`update waitlist_offers set status = 'WITHDRAWN', withdraw_cause = 'SESSION_MOVED', closed_at = $1`,
		testkit.Noon,
	) // damage
	studio.Tick()
	test.EqOp(t, 3, studio.Sweep().Mended, test.Sprint("two entries and a round"))
	studio.WantSound()
	test.EqOp(t, 0, studio.Sweep().Mended, test.Sprint("again"))
}

func TestSweep_EndsStaleEntries(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) { s.FillAfterStartSingle = new(time.Duration(0)) })
	soon, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(2*time.Hour)))
	later, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(200*time.Hour)))
	_, named := studio.AddWaiters(1, testkit.ForSessions(soon))
	_, stale := studio.AddWaiters(1, testkit.ForSessions(later))
	_, both := studio.AddWaiters(1, testkit.ForSessions(soon, later))
	_, window := studio.AddWaiters(1, studio.ForWindow("2026-03-16", "2026-03-17", "08:00", "09:00"))
	// all is what is expected of them after a sweep that ends some, by initials.
	all := func(want string, ended int) {
		t.Helper()
		test.EqOp(t, ended, studio.Sweep().Entries)
		var got []string
		for _, id := range []tenant.EntryID{named[0], both[0], window[0], stale[0]} {
			got = append(got, string(studio.Entry(id).Status)[:1])
		}
		test.EqOp(t, want, strings.Join(got, ""), test.Sprintf("at %s", studio.Clock.Now()))
		studio.WantSound()
	}
	all("WWWW", 0)
	studio.Clock.Set(testkit.Noon.Add(2 * time.Hour))
	all("EWWW", 1)
	studio.SetRules(func(s *waitlist.Settings) { s.ExpireStale, s.StaleAfter = new(true), new(72*time.Hour) })
	studio.Clock.Set(testkit.UTC("2026-03-17T23:01:00Z")) // a minute after midnight in Berlin
	all("EWEW", 1)
	studio.Clock.Set(testkit.Noon.Add(73 * time.Hour))
	all("EEEE", 2)
}

func TestWaitlistAnalytics_CountsOutcomes(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(2)
	waiters, ids := studio.AddWaiters(4, testkit.ForSessions(class))
	studio.MustCancel(who[0], booked[0]) // to the first, who declines after ten minutes; the second accepts after five
	studio.Clock.Set(studio.Clock.Now().Add(10*time.Minute - time.Millisecond))
	expect.OK(t)(studio.Decline(waiters[0], studio.LiveOffer(ids[0]), true))
	studio.Clock.Set(studio.Clock.Now().Add(5*time.Minute - time.Millisecond))
	expect.OK(t)(studio.Accept(waiters[1], studio.LiveOffer(ids[1])))
	studio.MustCancel(who[1], booked[1]) // to the third, whose offer runs out; then to the fourth
	studio.Clock.Set(studio.LiveOffer(ids[2]).ExpiresAt)
	expect.OK(t)(studio.App.Waitlists.ExpireDueOffers(context.Background(), studio.Tenant))
	figures := expect.Value(studio.App.Waitlists.GetWaitlistAnalytics(
		context.Background(), studio.Owner,
		waitlists.WaitlistQuery{
			Span: civil.Span{Start: testkit.Noon.Add(-12 * time.Hour), End: testkit.Noon.Add(156 * time.Hour)},
		},
	))(t)
	total := figures.Total
	want := waitstats.Counts{
		Entries: 4, Active: 2, Booked: 1, Offers: 4, Accepted: 1, Declined: 1, RanOut: 1, Live: 1,
		ResponseTime: 15 * time.Minute, Tries: 2,
	}
	test.Eq(t, want, total.Counts)
	test.Eq(t, map[int]int{2: 1}, total.Depths)
	test.EqOp(t, 0.25, total.AcceptanceRate())
	test.EqOp(t, 0.25, total.ConversionRate())
	test.EqOp(t, 2, total.CascadeDepth())
	test.EqOp(t, 7*time.Minute+30*time.Second, total.AverageResponse())
	must.SliceLen(t, 1, figures.Days)
	test.EqOp(t, "2026-03-16", figures.Days[0].Key)
	must.SliceLen(t, 1, figures.Locations)
	test.EqOp(t, "Pier 1", figures.Locations[0].Name)
	test.EqOp(t, "Vinyasa", figures.Services[0].Name)
	other := expect.Value(studio.App.Waitlists.GetWaitlistAnalytics(
		context.Background(), studio.OtherTenant().Owner,
		waitlists.WaitlistQuery{
			Span: civil.Span{Start: testkit.Noon.Add(-12 * time.Hour), End: testkit.Noon.Add(156 * time.Hour)},
		},
	))(t)
	test.EqOp(t, 0, other.Total.Entries+other.Total.Offers, test.Sprintf("%+v", other))
}

// What happens is counted once it is durable, by its status.
func TestStats_CountChanges(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(1)
	waiters, ids := studio.AddWaiters(2, testkit.ForSessions(class))
	studio.MustCancel(who[0], booked[0])
	var tallies []waitlists.Stats
	claims := expect.Value(waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes")))(t)
	later := testkit.NewClock(studio.Clock.Now().Add(10 * time.Minute))
	node := app.New(app.Config{
		DB: studio.DB.DB, Now: later.Now, Claims: claims, Stats: func(one waitlists.Stats) { tallies = append(tallies, one) },
	})
	expect.OK(t)(node.Waitlists.DeclineWaitlistOffer(
		context.Background(), testkit.SelfOnly(waiters[0]), studio.LiveOffer(ids[0]).ID, true, "",
	))
	later.Set(later.Now().Add(time.Minute))
	expect.OK(t)(node.Waitlists.AcceptWaitlistOffer(
		context.Background(), testkit.SelfOnly(waiters[1]), studio.LiveOffer(ids[1]).ID, tenant.SubscriptionID{},
	))
	expect.Reason(t, fault.WaitlistOfferNotLive)(node.Waitlists.AcceptWaitlistOffer(
		context.Background(), testkit.SelfOnly(waiters[0]), studio.Offers(class)[0].ID, tenant.SubscriptionID{},
	))
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
	test.Eq(t, want, got)
}

// Who is moved gets the score of the other entry, whatever the rules compute.
func TestMoveWaitlistEntry_TakesAnyScore(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) {
		s.Order, s.BaseScore = new(waitlist.ByPriority), new(10_000)
		s.EarlyBirdPointsPerDay, s.EarlyBirdMaxPoints = new(50), new(50)
	})
	class, _, _ := studio.AddFullSession(1)
	_, entries := studio.AddWaiters(2, testkit.ForSessions(class))
	moved := expect.Value(studio.App.Waitlists.MoveWaitlistEntry(t.Context(), studio.Owner, entries[1], entries[0], ""))(t)
	must.NotNil(t, moved.Score)
	test.Greater(t, 10_000, *moved.Score)
	test.EqOp(t, 1, moved.Position)

	for _, score := range []int{-waitlist.MaxScore, waitlist.MaxScore} {
		edit := waitlists.PriorityEdit{Score: &score}
		scored := expect.Value(studio.App.Waitlists.SetWaitlistPriority(t.Context(), studio.Owner, entries[0], edit))(t)
		test.EqOp(t, score, *scored.Score)
	}
}

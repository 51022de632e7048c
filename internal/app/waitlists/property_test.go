package waitlists_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Whatever people, staff and time do to a waitlist, and in whatever order: every invariant holds after each act, no
// seat is kept without an offer, each decision follows from its facts, and once all is over everything is given back.
func TestWaitlist_KeepsInvariants(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		l := newQueueLife(studio.OtherTenant())
		acts := l.acts()
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(acts))), 8, 30).Draw(rt, "acts") {
			err := acts[name](rt)
			f := testkit.FaultOf(err)
			must.False(
				rt, err != nil && (f == nil || f.Kind == fault.Internal || f.Kind == fault.Unavailable),
				must.Sprintf("%s: %v", name, err),
			)
			l.WantSound(rt, name)
			l.wantMendsNothing(rt, name)
		}
		wantDecisionsFollow(l.Life.Studio, rt)
		l.End(rt)
		l.WantSound(rt, "the end")
		l.WantNothingTaken(rt)
		test.EqOp(rt, 0, l.Count(`select count(*) from waitlist_offers where tenant_id = $1 and status = 'LIVE'`, l.Tenant),
			test.Sprint("offers are live"))
	})
}

// queueLife is a life with more people than seats.
type queueLife struct {
	*testkit.Life
	extra []tenant.Caller
}

func newQueueLife(studio *testkit.Studio) *queueLife {
	l := &queueLife{Life: testkit.NewLife(studio)}
	l.Sessions = nil
	for i, starts := range []time.Duration{3 * time.Hour, 30 * time.Hour, 31 * time.Hour} {
		l.Sessions = append(
			l.Sessions, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(starts), Capacity: 1 + i, Waitlist: 6}),
		)
	}
	for i := range 3 {
		l.extra = append(l.extra, studio.AddMember(fmt.Sprint("Extra ", i)))
	}
	return l
}

func (l *queueLife) acts() map[string]func(*rapid.T) error {
	ctx := context.Background()
	acts := l.Life.Actions()
	all := slices.Concat(l.People, l.extra)
	person := func(t *rapid.T) tenant.Caller { return testkit.Pick(t, "person", all) }
	somewhere := func(t *rapid.T) tenant.SessionID { return testkit.Pick(t, "session", l.Sessions) }
	offer := func(t *rapid.T) (tenant.Caller, waitlist.Offer, bool) {
		offers, err := l.App.Waitlists.ListWaitlistOffers(ctx, l.Owner, waitlists.OfferQuery{Oldest: true, Limit: 500})
		if err != nil || len(offers) == 0 {
			return tenant.Caller{}, waitlist.Offer{}, false
		}
		if live := slices.DeleteFunc(
			slices.Clone(offers), func(o waitlist.Offer) bool { return o.Status != waitlist.Live },
		); len(live) > 0 {
			offers = live
		}
		o := testkit.Pick(t, "offer", offers)
		at := slices.IndexFunc(all, func(c tenant.Caller) bool { return c.Member == o.Member })
		return testkit.SelfOnly(all[at]), o, true
	}
	entry := func(t *rapid.T, then func(waitlist.Entry) error) error {
		entries, err := l.App.Waitlists.ListWaitlistEntries(ctx, l.Owner, waitlists.EntryQuery{Limit: 500})
		if err != nil || len(entries) == 0 {
			return err
		}
		return then(testkit.Pick(t, "entry", entries))
	}
	remember := func(b *waitlists.OfferAnswer, by tenant.Caller, err error) error {
		if err == nil && b.Booking != nil {
			l.Callers[b.Booking.ID] = by
			l.Record(*b.Booking)
		}
		return err
	}
	delete(acts, "hold for a guest")
	maps.Copy(acts, map[string]func(*rapid.T) error{
		"join": func(t *rapid.T) error {
			return expect.Error(l.Join(
				person(t),
				waitlists.JoinRequest{Sessions: []tenant.SessionID{somewhere(t)}, Party: rapid.IntRange(1, 2).Draw(t, "party")},
			))
		},
		"join any": func(t *rapid.T) error {
			return expect.Error(l.Join(person(t), testkit.ForSessions(l.Sessions[1], l.Sessions[2])))
		},
		"join a window": func(t *rapid.T) error {
			r := l.ForWindow("2026-03-16", "2026-03-18", "00:00", "23:59")
			r.Party = rapid.IntRange(1, 2).Draw(t, "party")
			return expect.Error(l.Join(person(t), r))
		},
		"fill": func(*rapid.T) error { // so that there is something to wait for
			for _, id := range l.Sessions {
				for _, who := range all[:3] {
					if p, err := l.App.Bookings.Book(
						ctx, who, bookings.BookRequest{Session: id, Party: 1, Channel: catalog.Online, RefuseFull: true},
					); err == nil {
						l.Callers[p.Booking.ID] = who
						l.Record(*p.Booking)
					}
				}
			}
			return nil
		},
		"accept": func(t *rapid.T) error {
			by, o, ok := offer(t)
			if !ok {
				return nil
			}
			answered, err := l.Accept(by, o)
			return remember(&answered, by, err)
		},
		"decline": func(t *rapid.T) error {
			by, o, ok := offer(t)
			if !ok {
				return nil
			}
			return expect.Error(l.Decline(by, o, rapid.Bool().Draw(t, "leave")))
		},
		"expire an offer": func(t *rapid.T) error {
			_, o, ok := offer(t)
			if !ok {
				return nil
			}
			return expect.Error(l.App.Waitlists.ExpireWaitlistOffer(ctx, l.Owner, o.ID, ""))
		},
		"offers expire": func(*rapid.T) error {
			return expect.Error(l.App.Waitlists.ExpireDueOffers(ctx, l.Tenant))
		},
		"leave": func(t *rapid.T) error {
			return entry(t, func(e waitlist.Entry) error {
				return expect.Error(l.App.Waitlists.LeaveWaitlist(ctx, l.Owner, e.ID, "", false))
			})
		},
		"offer by hand": func(t *rapid.T) error {
			return entry(t, func(e waitlist.Entry) error {
				return expect.Error(
					l.App.Waitlists.CreateWaitlistOffer(ctx, l.Owner, waitlists.OfferRequest{Session: somewhere(t), Entry: e.ID}),
				)
			})
		},
		"prioritize": func(t *rapid.T) error {
			return entry(t, func(e waitlist.Entry) error {
				return expect.Error(l.App.Waitlists.SetWaitlistPriority(
					ctx, l.Owner, e.ID,
					waitlists.PriorityEdit{
						Flagged: new(rapid.Bool().Draw(t, "flag")), Score: new(rapid.IntRange(0, 200).Draw(t, "score")),
						ClearScore: rapid.Bool().Draw(t, "clear"),
					},
				))
			})
		},
		"move to the end": func(t *rapid.T) error {
			return entry(t, func(e waitlist.Entry) error {
				return expect.Error(l.App.Waitlists.MoveWaitlistEntry(ctx, l.Owner, e.ID, tenant.EntryID{}, ""))
			})
		},
		"rules": func(t *rapid.T) error {
			edit := func(s *waitlist.Settings) {
				s.OffersInQuietHours = new(true)
				s.Mode = new(
					rapid.SampledFrom([]waitlist.Mode{
						waitlist.AutoPromote, waitlist.OfferInTurn, waitlist.FirstToClaim,
					}).Draw(t, "mode"),
				)
				s.Order = new(rapid.SampledFrom([]waitlist.Order{waitlist.ByJoining, waitlist.ByPriority}).Draw(t, "order"))
				s.MaxTriesPerSlot = new(rapid.IntRange(0, 3).Draw(t, "tries"))
				s.MaxOffersPerEntry = new(rapid.IntRange(0, 3).Draw(t, "offers"))
				s.AutoCascade = new(rapid.Bool().Draw(t, "cascade"))
				s.AllowDownFitting = new(rapid.Bool().Draw(t, "down"))
				s.AfterDecline = new(
					rapid.SampledFrom([]waitlist.After{waitlist.ReturnEntry, waitlist.CloseEntry}).Draw(t, "after"),
				)
				s.FillAfterStart = new(time.Duration(rapid.IntRange(0, 1).Draw(t, "late")) * 10 * time.Minute)
			}
			return expect.Error(l.App.Settings.UpdateWaitlistRules(ctx, l.Owner, settings.RulesEdit{Edit: edit}))
		},
		"capacity": func(t *rapid.T) error {
			return expect.Error(l.App.Schedules.UpdateSession(
				ctx, l.Owner, somewhere(t), nil, session.Input{Capacity: new(rapid.IntRange(1, 4).Draw(t, "capacity"))},
				session.CapacityField,
			))
		},
		"move a session": func(t *rapid.T) error {
			id := somewhere(t)
			at := l.GetSession(id).StartsAt.Add(
				time.Duration(rapid.SampledFrom([]int{-24, -1, 1, 24}).Draw(t, "hours")) * time.Hour,
			)
			return expect.Error(l.App.Schedules.UpdateSession(
				ctx, l.Owner, id, nil, session.Input{StartsAt: at, EndsAt: at.Add(time.Hour)}, session.StartField|session.EndField,
			))
		},
		"block": func(t *rapid.T) error {
			return expect.Error(l.App.Schedules.BlockSession(ctx, l.Owner, somewhere(t), ""))
		},
		"unblock": func(t *rapid.T) error {
			return expect.Error(l.App.Schedules.UnblockSession(ctx, l.Owner, somewhere(t)))
		},
		"call off": func(t *rapid.T) error {
			if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
				return nil
			}
			return expect.Error(l.App.Schedules.CancelSession(ctx, l.Owner, somewhere(t), schedules.Removal{}))
		},
		"sweep": func(*rapid.T) error {
			return expect.Error(l.App.Housekeeping.SweepTenant(ctx, l.Tenant))
		},
	})
	return acts
}

// wantMendsNothing fails if a sweep finds an entry that should have been filled, or orphans.
func (l *queueLife) wantMendsNothing(t *rapid.T, after string) {
	t.Helper()
	expect.OK(t)(l.App.Housekeeping.ExpireDue(context.Background(), l.Tenant))
	done := expect.Value(l.App.Housekeeping.SweepTenant(context.Background(), l.Tenant))(t)
	must.EqOp(t, 0, done.Mended, must.Sprintf("after %s the sweep mended", after))
}

// wantDecisionsFollow makes each decision of the past again, under the rules that were in force.
func wantDecisionsFollow(studio *testkit.Studio, t rapid.TB) {
	t.Helper()
	ctx := context.Background()
	decisions, _, err := studio.App.Waitlists.ListWaitlistDecisions(
		ctx, studio.Owner, waitlists.DecisionQuery{Oldest: true, Limit: 500},
	)
	must.NoError(t, err)
	versions := expect.Value(studio.App.Settings.ListWaitlistRulesVersions(
		ctx, studio.Owner, settings.PolicyTarget{}, 0, 0,
	))(t)
	for _, d := range decisions {
		if d.Case.Trigger == waitlist.ByHand {
			continue // staff chose
		}
		again := d.Case.Decide(expect.Value(waitlist.Compile(inForce(versions, d).Rules))(t))
		test.EqOp(t, fmt.Sprint(d.Decision.Verdicts), fmt.Sprint(again.Verdicts),
			test.Sprintf("decision %s was\n%+v, again it is\n%+v", d.ID, d.Decision, again))
		test.EqOp(t, d.Decision.Move, again.Move,
			test.Sprintf("decision %s was\n%+v, again it is\n%+v", d.ID, d.Decision, again))
		test.EqOp(t, d.Decision.LeftMove, again.LeftMove,
			test.Sprintf("decision %s was\n%+v, again it is\n%+v", d.ID, d.Decision, again))
		test.EqOp(t, d.Decision.Given, again.Given,
			test.Sprintf("decision %s was\n%+v, again it is\n%+v", d.ID, d.Decision, again))
		must.SliceLen(t, len(d.Decision.Grants), again.Grants,
			must.Sprintf("decision %s was\n%+v, again it is\n%+v", d.ID, d.Decision, again))
		test.EqOp(t, d.Decision.Mode, again.Mode,
			test.Sprintf("decision %s was\n%+v, again it is\n%+v", d.ID, d.Decision, again))
	}
}

// inForce rebuilds the rules of a decision from the record of edits, the newest of which comes first.
func inForce(versions []waitlists.RulesVersion, d waitlists.DecisionRecord) waitlist.EffectiveRules {
	var layers []waitlist.Layer
	for _, level := range []struct {
		level catalog.Level
		scope tenant.UUID
	}{
		{catalog.TenantLevel, tenant.UUID{}}, {catalog.LocationLevel, d.Queue.Location.UUID},
		{catalog.ServiceLevel, d.Queue.Service.UUID},
	} {
		at := slices.IndexFunc(versions, func(v waitlists.RulesVersion) bool {
			return v.Level == level.level && (v.Scope == level.scope || level.level == catalog.TenantLevel) &&
				v.Version <= d.Rules
		})
		if at >= 0 {
			layers = append(layers, versions[at].Layer)
		}
	}
	return waitlist.Resolve(layers...)
}

package settings

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func rulesOf(target PolicyTarget) targetLayers[waitlist.Layer] {
	return targetLayers[waitlist.Layer]{
		target: target, list: waitlistdb.ListRules,
		scope: func(l *waitlist.Layer) (*catalog.Level, *tenant.UUID) { return &l.Level, &l.Scope },
	}
}

// GetWaitlistRules reads the waitlist rules in force for a target, and the level from which each value comes.
func (s *Service) GetWaitlistRules(
	ctx context.Context, caller tenant.Caller, target PolicyTarget,
) (waitlist.EffectiveRules, error) {
	layers, err := rulesOf(target).read(ctx, s.reader(caller), new(pg.Batch), caller.Tenant)
	return waitlist.Resolve(layers...), err
}

// RulesEdit is an edit of the waitlist rules of one level: the last one that the target names.
type RulesEdit struct {
	Target PolicyTarget
	Expect *int // the version of the level; nil: any
	Reason string
	Edit   func(*waitlist.Settings) // nil: the level inherits everything
}

// UpdateWaitlistRules edits the waitlist rules of one level. The rules take effect immediately, also for seats that
// are already open.
func (s *Service) UpdateWaitlistRules(
	ctx context.Context, caller tenant.Caller, r RulesEdit,
) (waitlist.EffectiveRules, error) {
	t := engine.Transaction{Name: "waitlist_rules.update", Replay: true, Races: []engine.Race{sameRulesVersion}}
	effective, err := engine.Transact(ctx, s.engine, caller, t,
		func(ctx context.Context, tx *engine.Tx) (waitlist.EffectiveRules, error) {
			return updateRules(ctx, tx, r)
		})
	if err == nil {
		s.waitlists.RequestFill(caller.Tenant)
	}
	return effective, err
}

func updateRules(ctx context.Context, tx *engine.Tx, r RulesEdit) (waitlist.EffectiveRules, error) {
	var last int
	var author []accountdb.Person
	var batch pg.Batch
	waitlistdb.FindLastRulesVersion(&batch, tx.Tenant, &last)
	accountdb.ListPeople(&batch, tx.Tenant, []tenant.MemberID{tx.Caller.Member}, &author)
	layers, err := rulesOf(r.Target).read(ctx, tx.Load, &batch, tx.Tenant)
	if err != nil {
		return waitlist.EffectiveRules{}, err
	}
	layer := &layers[len(layers)-1]
	if err := fault.CheckVersion(r.Expect, layer.Version); err != nil {
		return waitlist.EffectiveRules{}, err
	}
	before := layer.Settings.AuditFields()
	if r.Edit == nil {
		layer.Settings = waitlist.Settings{}
	} else {
		r.Edit(&layer.Settings)
	}
	changes := catalog.AuditChanges(before, layer.Settings.AuditFields())
	if changes == nil {
		return waitlist.Resolve(layers...), nil
	}
	if err := validate(layer.Settings, layers); err != nil {
		return waitlist.EffectiveRules{}, err
	}
	layer.Version = last + 1
	version := waitlistdb.RulesVersion{
		Layer: *layer, Reset: r.Edit == nil, Actor: tx.Caller.Actor(), Reason: r.Reason, At: tx.Now,
	}
	if len(author) > 0 {
		version.ActorName = author[0].Name
	}
	waitlistdb.PutRules(tx.Tx, tx.Tenant, version)
	record.Audit(tx, "waitlist_rules.updated", "waitlist_rules", layer.Scope, r.Reason, changes)
	record.Event(tx, outbox.Event{
		Data:  event.RulesChanged{Version: layer.Version, Level: string(layer.Level), Target: layer.Scope},
		Facts: event.NoFacts,
	})
	return waitlist.Resolve(layers...), nil
}

// validate checks the settings of one level, and whether the rules that follow from all levels are consistent.
func validate(edited waitlist.Settings, layers []waitlist.Layer) error {
	if err := edited.Validate(); err != nil {
		return err
	}
	return waitlist.Resolve(layers...).Rules.Consistent()
}

// sameRulesVersion recognizes two concurrent edits that got the same version.
func sameRulesVersion(err error) bool { return pg.IsUnique(err, "waitlist_rules_versions_pkey") }

// ListWaitlistRulesVersions reads the edits of the last level that the target names, the newest first. A zero target
// means the edits of all levels.
func (s *Service) ListWaitlistRulesVersions(
	ctx context.Context, caller tenant.Caller, target PolicyTarget, before, limit int,
) ([]waitlistdb.RulesVersion, error) {
	q := waitlistdb.RulesVersionQuery{Before: before, Limit: limit}
	switch {
	case !target.Service.IsZero():
		q.Level, q.Scope = catalog.ServiceLevel, target.Service.UUID
	case !target.Location.IsZero():
		q.Level, q.Scope = catalog.LocationLevel, target.Location.UUID
	}
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]waitlistdb.RulesVersion) {
		waitlistdb.ListRulesVersions(b, caller.Tenant, q, into)
	})
}

// RulesDraft is an edit of the waitlist rules of one level, to be tried on past decisions.
type RulesDraft struct {
	Target      PolicyTarget
	Edit        func(*waitlist.Settings)
	From, Until time.Time // half-open
	Limit       int
}

// Previewed is a past decision, and what it would have been with the draft.
type Previewed struct {
	Decided    waitlistdb.DecisionRecord
	Draft      waitlist.Decision
	Difference waitlist.Difference
}

// PreviewWaitlistRules repeats past decisions with the draft instead of the level's current rules, and returns what
// differs. It changes nothing. The function that it returns has the names of the members in the decisions.
func (s *Service) PreviewWaitlistRules(
	ctx context.Context, caller tenant.Caller, r RulesDraft,
) ([]Previewed, func(tenant.MemberID) string, error) {
	var all []waitlist.Layer
	var past []waitlistdb.DecisionRecord
	var batch pg.Batch
	waitlistdb.ListAllRules(&batch, caller.Tenant, &all)
	waitlistdb.ListDecisions(&batch, caller.Tenant, waitlistdb.DecisionQuery{
		Location: r.Target.Location, Service: r.Target.Service, From: r.From, Until: r.Until, Limit: r.Limit,
	}, &past)
	layers, err := rulesOf(r.Target).read(ctx, s.reader(caller), &batch, caller.Tenant)
	if err != nil {
		return nil, nil, err
	}
	draft := &layers[len(layers)-1]
	r.Edit(&draft.Settings)
	if err := validate(draft.Settings, layers); err != nil {
		return nil, nil, err
	}
	all = append(slices.DeleteFunc(all, func(l waitlist.Layer) bool { return l.Scope == draft.Scope }), *draft)
	slices.SortStableFunc(all, func(a, b waitlist.Layer) int {
		return slices.Index(levels, a.Level) - slices.Index(levels, b.Level)
	})
	previewed := make([]Previewed, 0, len(past))
	var members []tenant.MemberID
	for _, d := range past {
		if d.Case.Trigger == waitlist.ByHand {
			continue // staff decided, not the rules
		}
		// Compile would blame the draft's caller for the rules of another level.
		rules, err := waitlist.CompileSaved(waitlist.RulesAt(all, d.Queue.Location, d.Queue.Service).Rules)
		if err != nil {
			return nil, nil, err
		}
		draft := d.Case.Decide(rules)
		previewed = append(previewed, Previewed{d, draft, waitlist.Compare(d.Decision, draft)})
		members = append(members, waitlists.DecisionMembers(d.Decision)...)
	}
	name, err := s.waitlists.MemberNames(ctx, caller, members)
	return previewed, name, err
}

// levels are the levels of rules, the most specific last.
var levels = []catalog.Level{catalog.TenantLevel, catalog.LocationLevel, catalog.ServiceLevel}

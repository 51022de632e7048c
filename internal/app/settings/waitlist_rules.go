package settings

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ruleFacts are what the waitlist rules for a target are made of.
type ruleFacts struct {
	target   PolicyTarget
	location *catalog.Location
	service  *catalog.Service
	written  []waitlist.Layer
}

func (f *ruleFacts) queue(batch *pg.Batch, in tenant.TenantID) {
	catalogdb.FindLocation(batch, in, f.target.Location, &f.location)
	catalogdb.FindService(batch, in, f.target.Service, &f.service)
	waitlistdb.ListRules(batch, in, f.target.Location, f.target.Service, &f.written)
}

func (f *ruleFacts) exist() error { return f.target.exists(f.location, f.service) }

// layers gives every level on the way to the target; those at which nothing was ever said are empty.
func (f *ruleFacts) layers(in tenant.TenantID) []waitlist.Layer {
	return layersTo(f.target, in, f.written,
		func(l *waitlist.Layer) (*catalog.Level, *tenant.UUID) { return &l.Level, &l.Scope })
}

// GetRules tells which waitlist rules hold for a target, and where each value comes from.
func (s *Service) GetRules(ctx context.Context, caller tenant.Caller, target PolicyTarget) (waitlist.Effective, error) {
	facts := ruleFacts{target: target}
	var batch pg.Batch
	facts.queue(&batch, caller.Tenant)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return waitlist.Effective{}, err
	}
	return waitlist.Resolve(facts.layers(caller.Tenant)...), facts.exist()
}

// RulesEdit changes what one level says.
type RulesEdit struct {
	Target PolicyTarget
	Expect *int // the version of the level; nil: whichever
	Reason string
	Edit   func(*waitlist.Settings) // nil: it inherits everything again
}

// UpdateRules edits the last level on the way to the target. The rules hold at once, also for seats that are open already.
func (s *Service) UpdateRules(ctx context.Context, caller tenant.Caller, r RulesEdit) (waitlist.Effective, error) {
	var effective waitlist.Effective
	err := s.engine.Write(ctx, caller, "rules.update", func(ctx context.Context, tx *engine.Tx) error {
		facts := ruleFacts{target: r.Target}
		var last int
		var batch pg.Batch
		var author []accountdb.Person
		facts.queue(&batch, tx.Tenant)
		waitlistdb.FindLastRulesVersion(&batch, tx.Tenant, &last)
		accountdb.ListPeople(&batch, tx.Tenant, []tenant.MemberID{tx.Caller.Member}, &author)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if err := facts.exist(); err != nil {
			return err
		}
		layers := facts.layers(tx.Tenant)
		layer := layers[len(layers)-1]
		if err := engine.CheckVersion(r.Expect, layer.Version); err != nil {
			return err
		}
		before := layer.Settings.Facts()
		if r.Edit == nil {
			layer.Settings = waitlist.Settings{}
		} else {
			r.Edit(&layer.Settings)
		}
		changes := catalog.AuditChanges(before, layer.Settings.Facts())
		layers[len(layers)-1] = layer
		if changes == nil {
			effective = waitlist.Resolve(layers...)
			return nil
		}
		if err := layer.Settings.Validate(); err != nil {
			return err
		}
		if err := waitlist.Resolve(layers...).Rules.Consistent(); err != nil {
			return err
		}
		layer.Version = last + 1
		layers[len(layers)-1] = layer
		version := waitlistdb.RulesVersion{Layer: layer, Reset: r.Edit == nil, Author: tx.Caller.Actor(), Reason: r.Reason, At: tx.Now}
		if len(author) > 0 {
			version.AuthorName = author[0].Name
		}
		waitlistdb.PutRules(tx.Tx, tx.Tenant, version)
		tx.Audit("rules.updated", "waitlist_rules", layer.Scope, r.Reason, changes)
		outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
			ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.RulesChanged, Actor: tx.Caller.Actor(), At: tx.Now,
			Data: map[string]any{"version": layer.Version, "level": string(layer.Level), "target_id": layer.Scope.String()},
		})
		effective = waitlist.Resolve(layers...)
		return nil
	}, engine.Answers(&effective), engine.Losing(byRulesVersion))
	if err == nil {
		s.waitlists.RequestFill(caller.Tenant)
	}
	return effective, err
}

// byRulesVersion: somebody edited the rules at the same moment, and the same version was given twice.
var byRulesVersion = func(err error) bool { return pg.IsUnique(err, "waitlist_rules_versions_pkey") }

// ListRulesVersions reads the edits of a target's own level, the newest first; of all levels where it names none.
func (s *Service) ListRulesVersions(ctx context.Context, caller tenant.Caller, target PolicyTarget, before, limit int) ([]waitlistdb.RulesVersion, error) {
	q := waitlistdb.RulesVersionQuery{Before: before, Limit: limit}
	switch {
	case !target.Service.IsZero():
		q.Level, q.Scope = catalog.ServiceLevel, target.Service.UUID
	case !target.Location.IsZero():
		q.Level, q.Scope = catalog.LocationLevel, target.Location.UUID
	}
	var versions []waitlistdb.RulesVersion
	var batch pg.Batch
	waitlistdb.ListRulesVersions(&batch, caller.Tenant, q, &versions)
	return versions, s.engine.Read(ctx, caller, &batch)
}

// RulesDraft is what one level might say, to be tried on past moves.
type RulesDraft struct {
	Target      PolicyTarget
	Edit        func(*waitlist.Settings)
	From, Until time.Time
	Limit       int
}

// Previewed is a past move, and what a draft would have made of it.
type Previewed struct {
	Decided    waitlistdb.DecisionRecord
	Draft      waitlist.Decision
	Difference waitlist.Difference
}

// PreviewRules decides past moves again, as if the draft had been in force then instead of what is in force now, and tells what
// would have been different. It changes nothing.
func (s *Service) PreviewRules(ctx context.Context, caller tenant.Caller, r RulesDraft) ([]Previewed, func(tenant.MemberID) string, error) {
	facts := ruleFacts{target: r.Target}
	var all []waitlist.Layer
	var past []waitlistdb.DecisionRecord
	var batch pg.Batch
	facts.queue(&batch, caller.Tenant)
	waitlistdb.ListAllRules(&batch, caller.Tenant, &all)
	waitlistdb.ListDecisions(&batch, caller.Tenant, waitlistdb.DecisionQuery{
		Location: r.Target.Location, Service: r.Target.Service, From: r.From, Until: r.Until, Limit: r.Limit,
	}, &past)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, nil, err
	}
	if err := facts.exist(); err != nil {
		return nil, nil, err
	}
	layers := facts.layers(caller.Tenant)
	draft := layers[len(layers)-1]
	r.Edit(&draft.Settings)
	if err := draft.Settings.Validate(); err != nil {
		return nil, nil, err
	}
	layers[len(layers)-1] = draft
	if err := waitlist.Resolve(layers...).Rules.Consistent(); err != nil {
		return nil, nil, err
	}
	all = append(slices.DeleteFunc(all, func(l waitlist.Layer) bool { return l.Level == draft.Level && l.Scope == draft.Scope }), draft)
	slices.SortStableFunc(all, func(a, b waitlist.Layer) int { return levelRank[a.Level] - levelRank[b.Level] })
	previewed := make([]Previewed, 0, len(past))
	var members []tenant.MemberID
	for _, d := range past {
		if d.Case.Trigger == waitlist.ByHand {
			continue // staff chose
		}
		rules, err := waitlist.Compile(waitlist.RulesAt(all, d.Queue.Location, d.Queue.Service).Rules)
		if err != nil {
			return nil, nil, err
		}
		p := Previewed{Decided: d, Draft: d.Case.Decide(rules)}
		p.Difference = waitlist.Compare(d.Decision, p.Draft)
		previewed = append(previewed, p)
		members = append(members, waitlists.DecisionMembers(d.Decision)...)
	}
	name, err := s.waitlists.MemberNames(ctx, caller, members)
	return previewed, name, err
}

var levelRank = map[catalog.Level]int{catalog.TenantLevel: 1, catalog.LocationLevel: 2, catalog.ServiceLevel: 3}

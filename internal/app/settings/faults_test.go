package settings_test

import (
	"testing"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	app, ctx, owner := s.App.Settings, t.Context(), s.Owner
	here := settings.PolicyTarget{Location: s.Location, Service: s.Service}
	class, who, booked := s.AddFullSession(1)
	s.AddWaiters(2, testkit.ForSessions(class))
	s.MustCancel(who[0], booked[0])
	gold := func(r *waitlist.Settings) {
		r.Order, r.TierBonuses = new(waitlist.ByPriority), &map[string]int{"gold": 5}
	}
	s.WantErrors(
		func() error { return expect.Error(app.GetPolicy(ctx, owner, here)) },
		func() error {
			return expect.Error(app.UpdatePolicy(ctx, owner, here, nil, func(p *catalog.PolicyLayer) {
				p.AutoNoShow = new(true)
			}))
		},
		func() error { return expect.Error(app.GetWaitlistRules(ctx, owner, here)) },
		func() error {
			return expect.Error(app.UpdateWaitlistRules(ctx, owner, settings.RulesEdit{Target: here, Edit: gold}))
		},
		func() error { return expect.Error(app.ListWaitlistRulesVersions(ctx, owner, here, 0, 9)) },
		func() error {
			return expect.Error(app.PreviewWaitlistRules(ctx, owner, settings.RulesDraft{Limit: 9, Edit: gold}))
		},
	)
}

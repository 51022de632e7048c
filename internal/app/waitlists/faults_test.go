package waitlists_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	app, ctx, owner := s.App.Waitlists, t.Context(), s.Owner
	s.SetMode(waitlist.OfferInTurn)
	class, who, booked := s.AddFullSession(3)
	open := s.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour), Waitlist: 3})
	waiters, ids := s.AddWaiters(6, testkit.ForSessions(class))
	mia := s.AddMember("Mia")
	for i := range who {
		s.MustCancel(who[i], booked[i])
	}
	offer := func(i int) waitlist.Offer { return s.LiveOffer(ids[i]) }
	first, second, third := offer(0), offer(1), offer(2)
	token := app.ClaimURL(s.Tenant, third.ID)[len("https://berth.example"+waitlists.ClaimPath):]
	edit(s.Studio, func(r *waitlist.Settings) { r.MaxTriesPerSlot = new(9) })
	s.WantErrors(
		func() error { return expect.Error(s.Join(mia, testkit.ForSessions(class))) },
		func() error {
			return expect.Error(app.SetWaitlistPriority(ctx, owner, ids[5], waitlists.PriorityEdit{Flagged: new(true)}))
		},
		func() error { return expect.Error(app.MoveWaitlistEntry(ctx, owner, ids[4], ids[3], "")) },
		func() error {
			return expect.Error(app.CreateWaitlistOffer(ctx, owner, waitlists.OfferRequest{Session: open, Entry: ids[3]}))
		},
		func() error {
			return expect.Error(app.ListWaitlistEntries(ctx, owner, waitlistdb.EntryQuery{Limit: 9}))
		},
		func() error { return expect.Error(app.ListWaitlistOffers(ctx, owner, waitlistdb.OfferQuery{Limit: 9})) },
		func() error {
			return expect.Error(app.ListWaitlistDecisions(ctx, owner, waitlistdb.DecisionQuery{Limit: 9}))
		},
		func() error { return expect.Error(app.ExplainSessionWaitlist(ctx, owner, class)) },
		func() error { return expect.Error(app.ExplainWaitlistEntry(ctx, owner, ids[0])) },
		func() error { return expect.Error(app.ViewClaim(ctx, token)) },
		func() error { return expect.Error(app.GetWaitlistClaim(ctx, token)) },
		func() error {
			return expect.Error(app.GetWaitlistAnalytics(ctx, owner, waitlists.WaitlistQuery{
				Span: civil.Span{Start: testkit.Noon.Add(-time.Hour), End: testkit.Noon.Add(time.Hour)},
			}))
		},
		func() error { return expect.Error(s.Accept(waiters[0], first)) },
		func() error { return expect.Error(s.Decline(waiters[1], second, false)) },
		func() error { return expect.Error(s.Decline(waiters[1], second, false)) }, // again
		func() error { return expect.Error(app.AnswerWaitlistClaim(ctx, token, true)) },
		func() error { return expect.Error(app.LeaveWaitlist(ctx, owner, ids[5], "", true)) },
		func() error { return expect.Error(app.OffersByCode(ctx, s.Tenant, "+49301000001", "K7MP")) },
		func() error { return app.FillAfterEdits(ctx, s.Tenant) },
	)
	s.SetMode(waitlist.FirstToClaim)
	fast, holders, seats := s.AddFullSession(1)
	claimers, entries := s.AddWaiters(2, testkit.ForSessions(fast))
	s.MustCancel(holders[0], seats[0])
	shared := s.LiveOffer(entries[0])
	s.WantErrors(func() error { return expect.Error(s.Accept(claimers[0], shared)) })
	byHand, unsent := s.Offers(open)[0].ID, s.LiveOffer(ids[4])
	s.WantErrors(
		func() error { return expect.Error(app.ExpireWaitlistOffer(ctx, owner, byHand, "")) },
		func() error { return app.WithdrawUnsendable(ctx, s.Tenant, unsent.ID) },
	)
	s.Clock.Advance(26 * time.Hour)
	s.WantErrors(
		func() error { return expect.Error(app.ExpireDueOffers(ctx, s.Tenant)) },
		func() error { return expect.Error(app.ExpireHolds(ctx, s.Tenant)) },
	)
}

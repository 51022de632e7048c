package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ClaimPath is the path of the pages behind the links of offers.
const ClaimPath = "/claim/"

// ClaimURL is the link of an offer.
func (s *Service) ClaimURL(in tenant.TenantID, offer tenant.OfferID) string {
	return s.publicURL + ClaimPath + s.claims.Token(in, offer)
}

// MadeClaim reports whether a link's token was made by the service. Its offer may be gone.
func (s *Service) MadeClaim(token string) bool { return s.claims.Made(token) }

// Claim is the offer behind a link.
type Claim struct {
	Tenant tenant.TenantID
	Name   string // the tenant's
	Brand  brand.Brand
	Offer  waitlist.Offer
}

// GetWaitlistClaim reads the offer behind a link. The link is the permission. Reading changes nothing.
func (s *Service) GetWaitlistClaim(ctx context.Context, token string) (Claim, error) {
	claim, err := s.findClaim(ctx, token)
	claim.Offer = withoutMember(claim.Offer)
	return claim, err
}

// withoutMember leaves out the member and the entry of an offer, because a link can be passed on.
func withoutMember(o waitlist.Offer) waitlist.Offer {
	o.Member, o.Entry = tenant.MemberID{}, tenant.EntryID{}
	return o
}

func (s *Service) findClaim(ctx context.Context, token string) (Claim, error) {
	in, err := waitlist.ReadClaim(token)
	if err != nil {
		return Claim{}, err
	}
	var (
		offer *waitlist.Offer
		owner *catalog.Tenant
		batch pg.Batch
	)
	waitlistdb.FindOfferByClaim(&batch, in, waitlist.HashClaim(token), &offer)
	accountdb.FindTenant(&batch, in, &owner)
	if err := s.engine.Read(ctx, tenant.System(in), &batch); err != nil {
		return Claim{}, err
	}
	if offer == nil || owner == nil {
		return Claim{}, waitlist.ErrClaimInvalid
	}
	return Claim{Tenant: in, Name: owner.Name, Brand: owner.Brand, Offer: s.showExpired([]waitlist.Offer{*offer})[0]}, nil
}

// AnswerWaitlistClaim accepts or declines the offer behind a link, as its member.
func (s *Service) AnswerWaitlistClaim(ctx context.Context, token string, accept bool) (waitlist.Offer, error) {
	claim, err := s.findClaim(ctx, token)
	if err != nil {
		return waitlist.Offer{}, err
	}
	answered, err := s.answerAsMember(ctx, claim.Tenant, claim.Offer.Member, claim.Offer.ID, accept)
	return withoutMember(answered.Offer), err
}

func (s *Service) answerAsMember(
	ctx context.Context, in tenant.TenantID, member tenant.MemberID, offer tenant.OfferID, accept bool,
) (OfferAnswer, error) {
	caller := tenant.Caller{Tenant: in, Member: member, SelfOnly: true}
	if accept {
		return s.AcceptWaitlistOffer(ctx, caller, offer, tenant.SubscriptionID{})
	}
	return s.DeclineWaitlistOffer(ctx, caller, offer, false, "")
}

package accountapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// assignRoles is the permission of those who invite people with roles.
const assignRoles = "role.assign"

// BatchCreateInvitations handles InvitationService.BatchCreateInvitations.
func (s *Accounts) BatchCreateInvitations(
	ctx context.Context, req *v1.BatchCreateInvitationsRequest,
) (*v1.BatchCreateInvitationsResponse, error) {
	whom := make([]accounts.Invitee, len(req.GetInvitations()))
	roles := false
	for i, sent := range req.GetInvitations() {
		whom[i] = inviteeValue(sent)
		roles = roles || len(whom[i].New.Roles) > 0
	}
	if roles {
		if err := request.RequirePermission(ctx, assignRoles); err != nil {
			return nil, err
		}
		if err := request.RequireStepUp(ctx); err != nil {
			return nil, err
		}
	}
	all, err := s.Service.CreateInvitations(ctx, request.Caller(ctx), whom)
	if err != nil {
		return nil, err
	}
	return &v1.BatchCreateInvitationsResponse{Invitations: convert.Messages(all, s.invitationMessage)}, nil
}

// ListInvitations handles InvitationService.ListInvitations.
func (s *Accounts) ListInvitations(
	ctx context.Context, req *v1.ListInvitationsRequest,
) (*v1.ListInvitationsResponse, error) {
	page, err := convert.ParsePage[tenant.InvitationID](req)
	if err != nil {
		return nil, err
	}
	search := invitationSearch(req.GetFilter())
	if search.Limit = page.Limit(); page.After != nil {
		search.After = *page.After
	}
	all, err := s.Service.ListInvitations(ctx, request.Caller(ctx), search)
	if err != nil {
		return nil, err
	}
	all, next := convert.Paginate(page, all, func(i member.Invited) tenant.InvitationID { return i.ID })
	return &v1.ListInvitationsResponse{Invitations: convert.Messages(all, s.invitationMessage), NextPageToken: next}, nil
}

// ResendInvitation handles InvitationService.ResendInvitation.
func (s *Accounts) ResendInvitation(
	ctx context.Context, req *v1.ResendInvitationRequest,
) (*v1.ResendInvitationResponse, error) {
	i, err := s.Service.ResendInvitation(
		ctx, request.Caller(ctx), convert.ID[tenant.InvitationID](req.GetInvitationId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.ResendInvitationResponse{Invitation: s.invitationMessage(i)}, nil
}

// RevokeInvitation handles InvitationService.RevokeInvitation.
func (s *Accounts) RevokeInvitation(
	ctx context.Context, req *v1.RevokeInvitationRequest,
) (*v1.RevokeInvitationResponse, error) {
	err := s.Service.RevokeInvitation(
		ctx, request.Caller(ctx), convert.ID[tenant.InvitationID](req.GetInvitationId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.RevokeInvitationResponse{}, nil
}

// AcceptInvitation handles InvitationService.AcceptInvitation.
func (s *Accounts) AcceptInvitation(
	ctx context.Context, req *v1.AcceptInvitationRequest,
) (*v1.AcceptInvitationResponse, error) {
	caller := request.Caller(ctx)
	m, err := s.Service.AcceptInvitationAs(ctx, caller, issuerOf(ctx), req.GetLink())
	if err != nil {
		return nil, err
	}
	return &v1.AcceptInvitationResponse{Member: ownMessage(m, caller)}, nil
}

// issuerOf returns the issuer of the caller's token; empty for Berth's own tokens, which say themselves who the member
// is.
func issuerOf(ctx context.Context) string {
	if by := request.CallFrom(ctx).Principal; !by.Own {
		return by.Issuer
	}
	return ""
}

package accountapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// TransferOwnership handles AccessService.TransferOwnership.
func (s *Accounts) TransferOwnership(
	ctx context.Context, req *v1.TransferOwnershipRequest,
) (*v1.TransferOwnershipResponse, error) {
	t, err := s.Service.TransferOwnership(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return &v1.TransferOwnershipResponse{Transfer: transferMessage(t)}, nil
}

// ConfirmOwnershipTransfer handles AccessService.ConfirmOwnershipTransfer.
func (s *Accounts) ConfirmOwnershipTransfer(
	ctx context.Context, req *v1.ConfirmOwnershipTransferRequest,
) (*v1.ConfirmOwnershipTransferResponse, error) {
	roles, err := s.Service.ConfirmOwnershipTransfer(
		ctx, request.Caller(ctx), convert.ID[tenant.TransferID](req.GetTransferId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.ConfirmOwnershipTransferResponse{Roles: roles}, nil
}

// CancelOwnershipTransfer handles AccessService.CancelOwnershipTransfer.
func (s *Accounts) CancelOwnershipTransfer(
	ctx context.Context, req *v1.CancelOwnershipTransferRequest,
) (*v1.CancelOwnershipTransferResponse, error) {
	err := s.Service.CancelOwnershipTransfer(ctx, request.Caller(ctx), convert.ID[tenant.TransferID](req.GetTransferId()))
	if err != nil {
		return nil, err
	}
	return &v1.CancelOwnershipTransferResponse{}, nil
}

// ListOwnershipTransfers handles AccessService.ListOwnershipTransfers.
func (s *Accounts) ListOwnershipTransfers(
	ctx context.Context, _ *v1.ListOwnershipTransfersRequest,
) (*v1.ListOwnershipTransfersResponse, error) {
	transfers, err := s.Service.ListOwnershipTransfers(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return &v1.ListOwnershipTransfersResponse{Transfers: convert.Messages(transfers, transferMessage)}, nil
}

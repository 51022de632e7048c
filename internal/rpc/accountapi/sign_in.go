package accountapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// ListSignIns handles SignInService.ListSignIns.
func (s *Accounts) ListSignIns(ctx context.Context, req *v1.ListSignInsRequest) (*v1.ListSignInsResponse, error) {
	all, err := s.Service.ListSignIns(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return &v1.ListSignInsResponse{
		SignIns: convert.Messages(all.SignIns, signInMessage), Passkeys: convert.Messages(all.Passkeys, passkeyMessage),
	}, nil
}

// EndSignIns handles SignInService.EndSignIns.
func (s *Accounts) EndSignIns(ctx context.Context, req *v1.EndSignInsRequest) (*v1.EndSignInsResponse, error) {
	ended, err := s.Service.EndSignIns(ctx, request.Caller(ctx), signInQuery(req))
	if err != nil {
		return nil, err
	}
	return &v1.EndSignInsResponse{Ended: int32(ended)}, nil
}

// RemovePasskey handles SignInService.RemovePasskey.
func (s *Accounts) RemovePasskey(
	ctx context.Context, req *v1.RemovePasskeyRequest,
) (*v1.RemovePasskeyResponse, error) {
	err := s.Service.RemovePasskey(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()),
		convert.ID[tenant.PasskeyID](req.GetPasskeyId()))
	return &v1.RemovePasskeyResponse{}, err
}

func signInQuery(req *v1.EndSignInsRequest) accounts.SignInQuery {
	q := accounts.SignInQuery{
		Member: convert.ID[tenant.MemberID](req.GetMemberId()), KeepCurrent: req.GetKeepCurrent(),
	}
	for _, id := range req.GetSignInIds() {
		q.IDs = append(q.IDs, convert.ID[tenant.SignInID](id))
	}
	return q
}

func signInMessage(s signin.ListedSignIn) *v1.SignIn {
	return &v1.SignIn{
		Id:          convert.IDText(s.ID),
		Method:      convert.Enum[v1.SignInMethod](v1.SignInMethod_value, "SIGN_IN_METHOD_", s.Method),
		Browser:     s.Browser,
		Address:     s.Address,
		CreateTime:  convert.Timestamp(s.CreatedAt),
		LastUseTime: convert.Timestamp(s.UsedAt),
		ExpireTime:  convert.Timestamp(s.ExpiresAt),
		Current:     s.Current,
	}
}

func passkeyMessage(p signin.Passkey) *v1.Passkey {
	return &v1.Passkey{
		Id:          convert.IDText(p.ID),
		Browser:     p.Name,
		CreateTime:  convert.Timestamp(p.CreatedAt),
		LastUseTime: convert.Timestamp(p.UsedAt),
	}
}

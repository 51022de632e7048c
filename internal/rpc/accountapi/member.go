package accountapi

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

func (s *Accounts) CreateMember(
	ctx context.Context, req *connect.Request[v1.CreateMemberRequest],
) (*connect.Response[v1.CreateMemberResponse], error) {
	m, err := s.Accounts.CreateMember(ctx, request.Caller(ctx), memberValue(req.Msg.GetMember()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateMemberResponse{Member: memberMessage(m)})
}

func (s *Accounts) UpdateMember(
	ctx context.Context, req *connect.Request[v1.UpdateMemberRequest],
) (*connect.Response[v1.UpdateMemberResponse], error) {
	sent := req.Msg.GetMember()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	m, err := s.Accounts.UpdateMember(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](sent.GetId()), expect,
		editMember(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateMemberResponse{Member: memberMessage(m)})
}

func (s *Accounts) GetMember(
	ctx context.Context, req *connect.Request[v1.GetMemberRequest],
) (*connect.Response[v1.GetMemberResponse], error) {
	m, devices, err := s.Accounts.GetMember(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetMemberResponse{
		Member: memberMessage(m), Devices: convert.Messages(devices, deviceMessage),
	})
}

func (s *Accounts) ListMembers(
	ctx context.Context, req *connect.Request[v1.ListMembersRequest],
) (*connect.Response[v1.ListMembersResponse], error) {
	page, err := convert.OpenPage[member.Cursor](req.Msg)
	if err != nil {
		return nil, err
	}
	members, err := s.Accounts.ListMembers(ctx, request.Caller(ctx), member.Search{
		Query: req.Msg.GetQuery(), Role: req.Msg.GetRole(), Tier: req.Msg.GetTier(), Tag: req.Msg.GetTag(),
		Status: convert.Word[member.Status](memberStatusPrefix, req.Msg.GetStatus()), After: page.After, Limit: page.Size + 1,
	})
	if err != nil {
		return nil, err
	}
	members, next, err := convert.Cut(
		page, members, func(m member.Member) member.Cursor { return member.Cursor{Name: m.Name, ID: m.ID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListMembersResponse{Members: convert.Messages(members, memberMessage), NextPageToken: next})
}

func (s *Accounts) ImportMembers(
	ctx context.Context, req *connect.Request[v1.ImportMembersRequest],
	stream *connect.ServerStream[v1.ImportMembersResponse],
) error {
	report, err := s.Accounts.ImportMembers(ctx, request.Caller(ctx), req.Msg.GetCsv(), req.Msg.GetDryRun(),
		func(p member.Progress) error {
			return stream.Send(importProgressMessage(p))
		})
	if err != nil {
		return err
	}
	return stream.Send(importReportMessage(report))
}

func (s *Accounts) GetMe(
	ctx context.Context, _ *connect.Request[v1.GetMeRequest],
) (*connect.Response[v1.GetMeResponse], error) {
	me, err := s.Accounts.GetMe(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetMeResponse{
		Member: memberMessage(me.Member), Permissions: me.Permissions, Devices: convert.Messages(me.Devices, deviceMessage),
	})
}

func (s *Accounts) UpdateMe(
	ctx context.Context, req *connect.Request[v1.UpdateMeRequest],
) (*connect.Response[v1.UpdateMeResponse], error) {
	sent := req.Msg.GetMember()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	m, err := s.Accounts.UpdateMe(ctx, request.Caller(ctx), expect, editMember(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateMeResponse{Member: memberMessage(m)})
}

func (s *Accounts) RegisterDevice(
	ctx context.Context, req *connect.Request[v1.RegisterDeviceRequest],
) (*connect.Response[v1.RegisterDeviceResponse], error) {
	d, err := s.Accounts.RegisterDevice(
		ctx, request.Caller(ctx), convert.Word[member.DeviceKind](deviceKindPrefix, req.Msg.GetKind()), req.Msg.GetToken(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.RegisterDeviceResponse{Device: deviceMessage(d)})
}

func (s *Accounts) UnregisterDevice(
	ctx context.Context, req *connect.Request[v1.UnregisterDeviceRequest],
) (*connect.Response[v1.UnregisterDeviceResponse], error) {
	if err := s.Accounts.UnregisterDevice(
		ctx, request.Caller(ctx), convert.ID[tenant.DeviceID](req.Msg.GetDeviceId()),
	); err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UnregisterDeviceResponse{})
}

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

// CreateMember handles MemberService.CreateMember.
func (s *Accounts) CreateMember(
	ctx context.Context, req *connect.Request[v1.CreateMemberRequest],
) (*connect.Response[v1.CreateMemberResponse], error) {
	m, err := s.Service.CreateMember(ctx, request.Caller(ctx), memberValue(req.Msg.GetMember()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateMemberResponse{Member: memberMessage(m)})
}

// UpdateMember handles MemberService.UpdateMember.
func (s *Accounts) UpdateMember(
	ctx context.Context, req *connect.Request[v1.UpdateMemberRequest],
) (*connect.Response[v1.UpdateMemberResponse], error) {
	sent := req.Msg.GetMember()
	expect, err := convert.ExpectedVersion(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	m, err := s.Service.UpdateMember(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](sent.GetId()), expect,
		editMember(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateMemberResponse{Member: memberMessage(m)})
}

// GetMember handles MemberService.GetMember.
func (s *Accounts) GetMember(
	ctx context.Context, req *connect.Request[v1.GetMemberRequest],
) (*connect.Response[v1.GetMemberResponse], error) {
	m, devices, err := s.Service.GetMember(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetMemberResponse{
		Member: memberMessage(m), Devices: convert.Messages(devices, deviceMessage),
	})
}

// ListMembers handles MemberService.ListMembers.
func (s *Accounts) ListMembers(
	ctx context.Context, req *connect.Request[v1.ListMembersRequest],
) (*connect.Response[v1.ListMembersResponse], error) {
	page, err := convert.ParsePage[member.Cursor](req.Msg)
	if err != nil {
		return nil, err
	}
	members, err := s.Service.ListMembers(ctx, request.Caller(ctx), member.Search{
		Query: req.Msg.GetQuery(), Role: req.Msg.GetRole(), Tier: req.Msg.GetTier(), Tag: req.Msg.GetTag(),
		Status: convert.EnumName[member.Status](memberStatusPrefix, req.Msg.GetStatus()), After: page.After,
		Limit: page.Size + 1,
	})
	if err != nil {
		return nil, err
	}
	members, next, err := convert.Paginate(
		page, members, func(m member.Member) member.Cursor { return member.Cursor{Name: m.Name, ID: m.ID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListMembersResponse{
		Members: convert.Messages(members, memberMessage), NextPageToken: next,
	})
}

// ImportMembers handles MemberService.ImportMembers.
func (s *Accounts) ImportMembers(
	ctx context.Context, req *connect.Request[v1.ImportMembersRequest],
	stream *connect.ServerStream[v1.ImportMembersResponse],
) error {
	report, err := s.Service.ImportMembers(ctx, request.Caller(ctx), req.Msg.GetCsv(), req.Msg.GetDryRun(),
		func(p member.Progress) error {
			return stream.Send(importProgressMessage(p))
		})
	if err != nil {
		return err
	}
	return stream.Send(importReportMessage(report))
}

// GetMe handles MemberService.GetMe.
func (s *Accounts) GetMe(
	ctx context.Context, _ *connect.Request[v1.GetMeRequest],
) (*connect.Response[v1.GetMeResponse], error) {
	me, err := s.Service.GetMe(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetMeResponse{
		Member: memberMessage(me.Member), Permissions: me.Permissions, Devices: convert.Messages(me.Devices, deviceMessage),
	})
}

// UpdateMe handles MemberService.UpdateMe.
func (s *Accounts) UpdateMe(
	ctx context.Context, req *connect.Request[v1.UpdateMeRequest],
) (*connect.Response[v1.UpdateMeResponse], error) {
	sent := req.Msg.GetMember()
	expect, err := convert.ExpectedVersion(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	m, err := s.Service.UpdateMe(ctx, request.Caller(ctx), expect, editMember(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateMeResponse{Member: memberMessage(m)})
}

// RegisterDevice handles MemberService.RegisterDevice.
func (s *Accounts) RegisterDevice(
	ctx context.Context, req *connect.Request[v1.RegisterDeviceRequest],
) (*connect.Response[v1.RegisterDeviceResponse], error) {
	d, err := s.Service.RegisterDevice(
		ctx, request.Caller(ctx), convert.EnumName[member.DeviceKind](deviceKindPrefix, req.Msg.GetKind()),
		req.Msg.GetToken(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.RegisterDeviceResponse{Device: deviceMessage(d)})
}

// UnregisterDevice handles MemberService.UnregisterDevice.
func (s *Accounts) UnregisterDevice(
	ctx context.Context, req *connect.Request[v1.UnregisterDeviceRequest],
) (*connect.Response[v1.UnregisterDeviceResponse], error) {
	if err := s.Service.UnregisterDevice(
		ctx, request.Caller(ctx), convert.ID[tenant.DeviceID](req.Msg.GetDeviceId()),
	); err != nil {
		return nil, err
	}
	return convert.Response(&v1.UnregisterDeviceResponse{})
}

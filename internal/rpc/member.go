package rpc

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// memberService serves berth.v1.MemberService.
type memberService struct{ app *app.App }

func (s *memberService) CreateMember(ctx context.Context, req *connect.Request[v1.CreateMemberRequest]) (*connect.Response[v1.CreateMemberResponse], error) {
	m, err := s.app.Accounts.CreateMember(ctx, caller(ctx), memberValue(req.Msg.GetMember()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateMemberResponse{Member: memberMessage(m)})
}

func (s *memberService) UpdateMember(ctx context.Context, req *connect.Request[v1.UpdateMemberRequest]) (*connect.Response[v1.UpdateMemberResponse], error) {
	sent := req.Msg.GetMember()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	m, err := s.app.Accounts.UpdateMember(ctx, caller(ctx), id[tenant.MemberID](sent.GetId()), expect, editMember(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateMemberResponse{Member: memberMessage(m)})
}

func (s *memberService) GetMember(ctx context.Context, req *connect.Request[v1.GetMemberRequest]) (*connect.Response[v1.GetMemberResponse], error) {
	m, devices, err := s.app.Accounts.GetMember(ctx, caller(ctx), id[tenant.MemberID](req.Msg.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetMemberResponse{Member: memberMessage(m), Devices: messages(devices, deviceMessage)})
}

func (s *memberService) ListMembers(ctx context.Context, req *connect.Request[v1.ListMembersRequest]) (*connect.Response[v1.ListMembersResponse], error) {
	page, err := openPage[member.Position](req.Msg)
	if err != nil {
		return nil, err
	}
	members, err := s.app.Accounts.ListMembers(ctx, caller(ctx), member.Search{
		Query: req.Msg.GetQuery(), Role: req.Msg.GetRole(), Tier: req.Msg.GetTier(), Tag: req.Msg.GetTag(),
		Status: word[member.Status](memberStatusPrefix, req.Msg.GetStatus()), After: page.After, Limit: page.Size + 1,
	})
	if err != nil {
		return nil, err
	}
	members, next, err := cut(page, members, func(m member.Member) member.Position { return member.Position{Name: m.Name, ID: m.ID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListMembersResponse{Members: messages(members, memberMessage), NextPageToken: next})
}

func (s *memberService) ImportMembers(ctx context.Context, req *connect.Request[v1.ImportMembersRequest], stream *connect.ServerStream[v1.ImportMembersResponse]) error {
	report, err := s.app.Accounts.ImportMembers(ctx, caller(ctx), req.Msg.GetCsv(), req.Msg.GetDryRun(), func(p member.Progress) error {
		return stream.Send(importProgressMessage(p))
	})
	if err != nil {
		return err
	}
	return stream.Send(importReportMessage(report))
}

func (s *memberService) GetMe(ctx context.Context, _ *connect.Request[v1.GetMeRequest]) (*connect.Response[v1.GetMeResponse], error) {
	me, err := s.app.Accounts.GetMe(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetMeResponse{
		Member: memberMessage(me.Member), Permissions: me.Permissions, Devices: messages(me.Devices, deviceMessage),
	})
}

func (s *memberService) UpdateMe(ctx context.Context, req *connect.Request[v1.UpdateMeRequest]) (*connect.Response[v1.UpdateMeResponse], error) {
	sent := req.Msg.GetMember()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	m, err := s.app.Accounts.UpdateMe(ctx, caller(ctx), expect, editMember(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateMeResponse{Member: memberMessage(m)})
}

func (s *memberService) RegisterDevice(ctx context.Context, req *connect.Request[v1.RegisterDeviceRequest]) (*connect.Response[v1.RegisterDeviceResponse], error) {
	d, err := s.app.Accounts.RegisterDevice(ctx, caller(ctx), word[member.DeviceKind](deviceKindPrefix, req.Msg.GetKind()), req.Msg.GetToken())
	if err != nil {
		return nil, err
	}
	return reply(&v1.RegisterDeviceResponse{Device: deviceMessage(d)})
}

func (s *memberService) UnregisterDevice(ctx context.Context, req *connect.Request[v1.UnregisterDeviceRequest]) (*connect.Response[v1.UnregisterDeviceResponse], error) {
	if err := s.app.Accounts.UnregisterDevice(ctx, caller(ctx), id[tenant.DeviceID](req.Msg.GetDeviceId())); err != nil {
		return nil, err
	}
	return reply(&v1.UnregisterDeviceResponse{})
}

package accountapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateMember handles MemberService.CreateMember.
func (s *Accounts) CreateMember(ctx context.Context, req *v1.CreateMemberRequest) (*v1.CreateMemberResponse, error) {
	m, err := s.Service.CreateMember(ctx, request.Caller(ctx), memberValue(req.GetMember()))
	if err != nil {
		return nil, err
	}
	return &v1.CreateMemberResponse{Member: memberMessage(m)}, nil
}

// UpdateMember handles MemberService.UpdateMember.
func (s *Accounts) UpdateMember(ctx context.Context, req *v1.UpdateMemberRequest) (*v1.UpdateMemberResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	m, err := s.Service.UpdateMember(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()), expect,
		editMember(req.GetMember(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateMemberResponse{Member: memberMessage(m)}, nil
}

// DeactivateMember handles MemberService.DeactivateMember.
func (s *Accounts) DeactivateMember(
	ctx context.Context, req *v1.DeactivateMemberRequest,
) (*v1.DeactivateMemberResponse, error) {
	left, err := s.Service.DeactivateMember(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return &v1.DeactivateMemberResponse{
		Member: memberMessage(left.Member), SessionsWithoutCoach: withoutCoachMessage(left.WithoutCoach),
	}, nil
}

// ReactivateMember handles MemberService.ReactivateMember.
func (s *Accounts) ReactivateMember(
	ctx context.Context, req *v1.ReactivateMemberRequest,
) (*v1.ReactivateMemberResponse, error) {
	m, err := s.Service.ReactivateMember(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return &v1.ReactivateMemberResponse{Member: memberMessage(m)}, nil
}

// GetMember handles MemberService.GetMember.
func (s *Accounts) GetMember(ctx context.Context, req *v1.GetMemberRequest) (*v1.GetMemberResponse, error) {
	p, err := s.Service.GetMember(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetMemberResponse{
		Member: memberMessage(p.Member), Devices: convert.Messages(p.Devices, deviceMessage),
		PendingContacts: convert.Messages(p.Pending, pendingMessage),
		AddressChange:   addressChangeMessage(p.Change),
	}, nil
}

// ListMembers handles MemberService.ListMembers.
func (s *Accounts) ListMembers(ctx context.Context, req *v1.ListMembersRequest) (*v1.ListMembersResponse, error) {
	page, err := convert.ParsePage[member.Cursor](req)
	if err != nil {
		return nil, err
	}
	search := memberSearch(req.GetFilter())
	search.After, search.Limit = page.After, page.Limit()
	members, err := s.Service.ListMembers(ctx, request.Caller(ctx), search)
	if err != nil {
		return nil, err
	}
	members, next := convert.Paginate(
		page, members, func(m member.Member) member.Cursor { return member.Cursor{Name: m.Name, ID: m.ID} },
	)
	return &v1.ListMembersResponse{
		Members: convert.Messages(members, memberMessage), NextPageToken: next,
	}, nil
}

// GetMe handles MemberService.GetMe.
func (s *Accounts) GetMe(ctx context.Context, _ *v1.GetMeRequest) (*v1.GetMeResponse, error) {
	caller := request.Caller(ctx)
	me, err := s.Service.GetMe(ctx, caller)
	if err != nil {
		return nil, err
	}
	return &v1.GetMeResponse{
		Member: ownMessage(me.Member, caller), Permissions: me.Permissions,
		Devices:         convert.Messages(me.Devices, deviceMessage),
		PendingContacts: convert.Messages(me.Pending, pendingMessage),
	}, nil
}

// LinkMe handles MemberService.LinkMe.
func (s *Accounts) LinkMe(ctx context.Context, _ *v1.LinkMeRequest) (*v1.LinkMeResponse, error) {
	caller := request.Caller(ctx)
	m, err := s.Service.LinkMe(ctx, caller, issuerOf(ctx))
	if err != nil {
		return nil, err
	}
	return &v1.LinkMeResponse{Member: ownMessage(m, caller)}, nil
}

// UpdateMe handles MemberService.UpdateMe.
func (s *Accounts) UpdateMe(ctx context.Context, req *v1.UpdateMeRequest) (*v1.UpdateMeResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	caller := request.Caller(ctx)
	me, err := s.Service.UpdateMe(ctx, caller, expect, editMe(req.GetMember(), req.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return &v1.UpdateMeResponse{
		Member: ownMessage(me.Member, caller), PendingContacts: convert.Messages(me.Pending, pendingMessage),
	}, nil
}

// ConfirmContact handles MemberService.ConfirmContact.
func (s *Accounts) ConfirmContact(
	ctx context.Context, req *v1.ConfirmContactRequest,
) (*v1.ConfirmContactResponse, error) {
	caller := request.Caller(ctx)
	m, err := s.Service.ConfirmContact(ctx, caller, contactKind(req.GetKind()), req.GetCode())
	if err != nil {
		return nil, err
	}
	return &v1.ConfirmContactResponse{Member: ownMessage(m, caller)}, nil
}

// ResendContactCode handles MemberService.ResendContactCode.
func (s *Accounts) ResendContactCode(
	ctx context.Context, req *v1.ResendContactCodeRequest,
) (*v1.ResendContactCodeResponse, error) {
	pending, err := s.Service.ResendContactCode(ctx, request.Caller(ctx), contactKind(req.GetKind()))
	if err != nil {
		return nil, err
	}
	return &v1.ResendContactCodeResponse{PendingContact: pendingMessage(pending)}, nil
}

// CancelContact handles MemberService.CancelContact.
func (s *Accounts) CancelContact(
	ctx context.Context, req *v1.CancelContactRequest,
) (*v1.CancelContactResponse, error) {
	if err := s.Service.CancelContact(ctx, request.Caller(ctx), contactKind(req.GetKind())); err != nil {
		return nil, err
	}
	return &v1.CancelContactResponse{}, nil
}

// ConfirmMemberContact handles MemberService.ConfirmMemberContact.
func (s *Accounts) ConfirmMemberContact(
	ctx context.Context, req *v1.ConfirmMemberContactRequest,
) (*v1.ConfirmMemberContactResponse, error) {
	m, err := s.Service.ConfirmMemberContact(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()),
		member.Contact{Kind: contactKind(req.GetKind()), Address: req.GetAddress()}, req.GetReason(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.ConfirmMemberContactResponse{Member: memberMessage(m)}, nil
}

// RegisterDevice handles MemberService.RegisterDevice.
func (s *Accounts) RegisterDevice(
	ctx context.Context, req *v1.RegisterDeviceRequest,
) (*v1.RegisterDeviceResponse, error) {
	d, err := s.Service.RegisterDevice(
		ctx, request.Caller(ctx), convert.EnumName[member.DeviceKind](deviceKindPrefix, req.GetKind()),
		req.GetToken(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.RegisterDeviceResponse{Device: deviceMessage(d)}, nil
}

// GetDevice handles MemberService.GetDevice.
func (s *Accounts) GetDevice(ctx context.Context, req *v1.GetDeviceRequest) (*v1.GetDeviceResponse, error) {
	d, err := s.Service.GetDevice(ctx, request.Caller(ctx), convert.ID[tenant.DeviceID](req.GetDeviceId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetDeviceResponse{Device: deviceMessage(d)}, nil
}

// ListDevices handles MemberService.ListDevices.
func (s *Accounts) ListDevices(ctx context.Context, req *v1.ListDevicesRequest) (*v1.ListDevicesResponse, error) {
	caller, err := request.Scoped(ctx, req.GetScope(), readMembers)
	if err != nil {
		return nil, err
	}
	page, err := convert.ParsePage[tenant.DeviceID](req)
	if err != nil {
		return nil, err
	}
	search := deviceSearch(req.GetFilter())
	search.Limit = page.Limit()
	if page.After != nil {
		search.After = *page.After
	}
	devices, err := s.Service.ListDevices(ctx, caller, search)
	if err != nil {
		return nil, err
	}
	devices, next := convert.Paginate(page, devices, func(d member.Device) tenant.DeviceID { return d.ID })
	return &v1.ListDevicesResponse{Devices: convert.Messages(devices, deviceMessage), NextPageToken: next}, nil
}

// readMembers is the permission of those who read all devices.
const readMembers = "member.read"

// UnregisterDevice handles MemberService.UnregisterDevice.
func (s *Accounts) UnregisterDevice(
	ctx context.Context, req *v1.UnregisterDeviceRequest,
) (*v1.UnregisterDeviceResponse, error) {
	if err := s.Service.UnregisterDevice(
		ctx, request.Caller(ctx), convert.ID[tenant.DeviceID](req.GetDeviceId()),
	); err != nil {
		return nil, err
	}
	return &v1.UnregisterDeviceResponse{}, nil
}

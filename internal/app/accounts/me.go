package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// Me is what a caller sees of their own membership.
type Me struct {
	Member      member.Member // without the notes of staff
	Permissions []string      // in the catalogue's order
	Devices     []member.Device
}

// GetMe reads the caller's own membership.
func (s *Service) GetMe(ctx context.Context, caller tenant.Caller) (Me, error) {
	var m *member.Member
	var own []grant.Role
	var me Me
	var batch pg.Batch
	accountdb.FindMember(&batch, caller.Tenant, caller.Member, &m)
	accountdb.ListOwnRoles(&batch, caller.Tenant, &own)
	accountdb.ListDevices(&batch, caller.Tenant, caller.Member, &me.Devices)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return Me{}, err
	}
	if m == nil {
		return Me{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	me.Member, me.Permissions = *m, grant.NewRoleSet(own).Permissions(m.Roles...).Names()
	me.Member.Notes = ""
	return me, nil
}

// UpdateMe edits the caller's own membership.
func (s *Service) UpdateMe(ctx context.Context, caller tenant.Caller, expect *int, edit func(*member.Member) error) (member.Member, error) {
	m, err := s.UpdateMember(ctx, caller, caller.Member, expect, edit)
	m.Notes = ""
	return m, err
}

// RegisterDevice lets push notifications reach the caller's device. It is no act
// that anyone asks about later, so the audit log does not keep it.
func (s *Service) RegisterDevice(ctx context.Context, caller tenant.Caller, kind member.DeviceKind, token string) (member.Device, error) {
	if err := member.CheckDeviceToken(token); err != nil {
		return member.Device{}, err
	}
	var device member.Device
	err := s.engine.Write(ctx, caller, "device.register", func(ctx context.Context, tx *engine.Tx) error {
		var m *member.Member
		var batch pg.Batch
		accountdb.FindMember(&batch, tx.Tenant, tx.Caller.Member, &m)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if m == nil {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		fresh := member.Device{ID: tenant.NextID[tenant.DeviceID](tx.IDs), Kind: kind, CreatedAt: tx.Now, SeenAt: tx.Now}
		accountdb.SaveDevice(tx.Tx, tx.Tenant, m.ID, fresh, token, &device)
		accountdb.TrimDevices(tx.Tx, tx.Tenant, m.ID, member.MaxDevices)
		return tx.Flush(ctx) // which fills the device in
	}, engine.Answers(&device))
	return device, err
}

// UnregisterDevice stops push notifications to a device of the caller's.
func (s *Service) UnregisterDevice(ctx context.Context, caller tenant.Caller, id tenant.DeviceID) error {
	return s.engine.Write(ctx, caller, "device.unregister", func(ctx context.Context, tx *engine.Tx) error {
		var theirs bool
		var batch pg.Batch
		accountdb.HasDevice(&batch, tx.Tenant, tx.Caller.Member, id, &theirs)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if !theirs {
			return fault.Missing(fault.DeviceNotFound, "Device")
		}
		accountdb.DeleteDevice(tx.Tx, tx.Tenant, id)
		return nil
	}, engine.Answers())
}

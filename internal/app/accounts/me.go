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

// Me is a caller's own membership.
type Me struct {
	Member      member.Member // without the notes, which are for staff
	Permissions []string      // in the order of policy.Permissions
	Devices     []member.Device
	Pending     []member.PendingContact
}

// GetMe reads the caller's own membership.
func (s *Service) GetMe(ctx context.Context, caller tenant.Caller) (Me, error) {
	var own []grant.Role
	var devices []member.Device
	pending := make(map[tenant.MemberID][]member.PendingContact)
	m, err := engine.Get(ctx, s.engine, caller, errNoMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, caller.Tenant, caller.Member, into)
		accountdb.ListPendingContacts(b, caller.Tenant, []tenant.MemberID{caller.Member}, pending)
		accountdb.ListOwnRoles(b, caller.Tenant, &own)
		accountdb.ListDevices(b, caller.Tenant, caller.Member, &devices)
	})
	return Me{ownView(m), grant.NewRoleSet(own).Permissions(m.Roles...).Names(), devices, pending[caller.Member]}, err
}

// ownView returns a member as they see themselves.
func ownView(m member.Member) member.Member {
	m.Notes = ""
	return m
}

// RegisterDevice registers a device of the caller for push notifications. It leaves no entry in the audit log.
func (s *Service) RegisterDevice(
	ctx context.Context, caller tenant.Caller, kind member.DeviceKind, token string,
) (member.Device, error) {
	if err := member.CheckDeviceToken(token); err != nil {
		return member.Device{}, err
	}
	sealed := s.sealToken(caller.Tenant, token) // once, so that all attempts write the same
	return engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "device.register", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (member.Device, error) {
			m, err := engine.Find(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
				accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, into)
			})
			if err != nil {
				return member.Device{}, err
			}
			device := member.Device{
				ID: tenant.NextID[tenant.DeviceID](tx.IDs), Member: m.ID, Kind: kind, CreatedAt: tx.Now, SeenAt: tx.Now,
			}
			accountdb.SaveDevice(tx.Tx, tx.Tenant, device, sealed, &device)
			accountdb.TrimDevices(tx.Tx, tx.Tenant, m.ID, member.MaxDevices)
			err = tx.Flush(ctx) // a device with that token keeps its id
			return device, err
		})
}

// sealToken seals the token of a device.
func (s *Service) sealToken(in tenant.TenantID, token string) accountdb.SealedToken {
	hashes := s.seals.Hashes(in, "device", token)
	return accountdb.SealedToken{
		Sealed: s.seals.Seal(in, []byte(token)), Hash: hashes[0],
		Former: append(hashes[1:], accountdb.PlainHash(token)),
	}
}

// sealedAtOnce is how many tokens SealDevices seals in a transaction.
const sealedAtOnce = 500

// SealDevices seals the tokens of devices that were stored before tokens were sealed.
func (s *Service) SealDevices(ctx context.Context, in tenant.TenantID) error {
	caller := tenant.System(in)
	for {
		plain, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]accountdb.UnsealedDevice) {
			accountdb.ListUnsealedDevices(b, in, sealedAtOnce, into)
		})
		if err != nil || len(plain) == 0 {
			return err
		}
		sealed := make([]accountdb.SealedToken, len(plain))
		for i, d := range plain {
			sealed[i] = s.sealToken(in, d.Token)
		}
		err = engine.Exec(ctx, s.engine, caller, engine.Transaction{Name: "sweep.seal_devices"},
			func(_ context.Context, tx *engine.Tx) error {
				for i, d := range plain {
					accountdb.SealDevice(tx.Tx, tx.Tenant, d.ID, sealed[i])
				}
				return nil
			})
		if err != nil {
			return err
		}
	}
}

var errNoDevice = fault.Missing(fault.DeviceNotFound, "Device")

// GetDevice reads a device: of anyone, or of the caller who may access no others.
func (s *Service) GetDevice(ctx context.Context, caller tenant.Caller, id tenant.DeviceID) (member.Device, error) {
	device, err := engine.Get(ctx, s.engine, caller, errNoDevice, func(b *pg.Batch, into **member.Device) {
		accountdb.FindDevice(b, caller.Tenant, id, into)
	})
	if err == nil && !caller.CanAccess(device.Member) {
		return member.Device{}, errNoDevice
	}
	return device, err
}

// ListDevices reads devices by id, the newest first: of all, or of the caller who may access no others.
func (s *Service) ListDevices(
	ctx context.Context, caller tenant.Caller, search member.DeviceSearch,
) ([]member.Device, error) {
	if caller.SelfOnly {
		if search.Member.IsZero() {
			search.Member = caller.Member
		}
		if !caller.CanAccess(search.Member) {
			return nil, nil
		}
	}
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]member.Device) {
		accountdb.SearchDevices(b, caller.Tenant, search, into)
	})
}

// UnregisterDevice ends push notifications to a device of the caller.
func (s *Service) UnregisterDevice(ctx context.Context, caller tenant.Caller, id tenant.DeviceID) error {
	return engine.Exec(ctx, s.engine, caller, engine.Transaction{Name: "device.unregister", Replay: true},
		func(ctx context.Context, tx *engine.Tx) error {
			var own bool
			var batch pg.Batch
			accountdb.HasDevice(&batch, tx.Tenant, tx.Caller.Member, id, &own)
			if err := tx.Load(ctx, &batch); err != nil {
				return err
			}
			if !own {
				return errNoDevice
			}
			accountdb.DeleteDevices(tx.Tx, tx.Tenant, []tenant.DeviceID{id})
			return nil
		})
}

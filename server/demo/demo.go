// Package demo creates demo tenants: a yoga and strength studio in the middle of a busy month, a golf club and a salon.
// All data are created by use cases, with a clock that runs through the past weeks, so they follow the rules.
package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Tenant describes a demo tenant.
type Tenant struct {
	ID   tenant.TenantID
	Name string
	// Subjects are the people to sign in as, by role: owner, admin, coach, member, partner.
	Subjects map[string]string
	// Session is a session that the member can book; zero if there is none.
	Session tenant.SessionID
	// Offer is an offer that the member can accept; zero if there is none.
	Offer tenant.OfferID
}

// Seed creates the demo tenants that do not exist yet, and returns all. It reports long steps to progress.
func Seed(
	ctx context.Context, db *pg.DB, claims waitlist.ClaimKey, seals seal.Keys, now time.Time,
	progress func(line string),
) ([]Tenant, error) {
	existing, err := app.New(app.Config{DB: db, Now: func() time.Time { return now }}).Engine.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	var all []Tenant
	for i, build := range []func(context.Context, *builder) error{studio, club, salon} {
		b := newBuilder(db, claims, seals, now, progress)
		t, err := b.find(ctx, i, existing)
		if err == nil && t == nil {
			t, err = b.create(ctx, build)
		}
		if err != nil {
			return nil, fmt.Errorf("demo data: %w", err)
		}
		if err := b.findSessionAndOffer(ctx, t); err != nil {
			return nil, fmt.Errorf("demo data: %w", err)
		}
		all = append(all, *t)
	}
	return all, nil
}

// builder creates one tenant. The data that it builds set its clock.
type builder struct {
	app      *app.Services
	access   access.Source
	now      time.Time // the real time
	clock    time.Time // the time of the use cases
	random   *rand.Rand
	progress func(string)

	id    tenant.TenantID
	owner tenant.Caller
}

func newBuilder(
	db *pg.DB, claims waitlist.ClaimKey, seals seal.Keys, now time.Time, progress func(string),
) *builder {
	b := &builder{
		access: accounts.AccessSource(db), now: now, clock: now, progress: progress, random: rand.New(rand.NewPCG(8, 20)),
	}
	b.app = app.New(app.Config{DB: db, Claims: claims, Seals: seals, Now: func() time.Time { return b.clock }})
	return b
}

// attempts limits how often the first start may have been interrupted.
const attempts = 100

// tenantID returns the id of a demo tenant. An interrupted first start leaves an incomplete tenant, so the next start
// uses the id of the next attempt.
func tenantID(which, attempt int) tenant.TenantID {
	return tenant.MustParse[tenant.TenantID](fmt.Sprintf("0190a5e0-0000-7000-8000-%06d%06d", which+1, attempt))
}

// find returns the tenant if it exists and is complete. Otherwise it chooses an id.
func (b *builder) find(ctx context.Context, which int, existing []tenant.TenantID) (*Tenant, error) {
	for attempt := range attempts {
		b.id = tenantID(which, attempt)
		if !slices.Contains(existing, b.id) {
			return nil, nil
		}
		caller := tenant.System(b.id)
		accounts, err := b.app.Accounts.ListServiceAccounts(ctx, caller, grant.ServiceAccountSearch{Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(accounts) == 0 {
			continue // the account is created last
		}
		found, err := b.app.Accounts.GetTenant(ctx, caller)
		if err != nil {
			return nil, err
		}
		return &Tenant{ID: b.id, Name: found.Name, Subjects: subjects(accounts[0])}, nil
	}
	return nil, fmt.Errorf("%d first starts were interrupted; remove the data folder", attempts)
}

// subjects returns the subjects of the demo people, which are the same in every tenant.
func subjects(partner grant.ServiceAccount) map[string]string {
	return map[string]string{
		tenant.RoleOwner: "demo-owner", tenant.RoleAdmin: "demo-admin", tenant.RoleCoach: "demo-coach",
		tenant.RoleMember: "demo-member", tenant.RolePartner: "sa:" + partner.ID.String(),
	}
}

func (b *builder) create(ctx context.Context, build func(context.Context, *builder) error) (*Tenant, error) {
	if err := build(ctx, b); err != nil {
		return nil, err
	}
	b.clock = b.now
	if err := b.sweep(ctx); err != nil {
		return nil, err
	}
	account, _, err := b.app.Accounts.CreateServiceAccount(
		ctx, b.owner, grant.ServiceAccount{Name: "Partner app", Roles: []string{tenant.RolePartner}},
	)
	if err != nil {
		return nil, err
	}
	created, err := b.app.Accounts.GetTenant(ctx, b.owner)
	if err != nil {
		return nil, err
	}
	return &Tenant{ID: b.id, Name: created.Name, Subjects: subjects(account)}, nil
}

// sweep does the periodic work of nodes on the builder's clock, so that holds and offers end at the right time in the
// past.
func (b *builder) sweep(ctx context.Context) error {
	_, err := b.app.Housekeeping.SweepTenant(ctx, b.id)
	return err
}

// createTenant creates the tenant with its owner, an admin, a coach and a member.
func (b *builder) createTenant(ctx context.Context, n accounts.NewTenant) (people, error) {
	n.ID, n.Owner = b.id, &accounts.FirstOwner{Subject: "demo-owner", Name: "Olive Owner", Email: "owner@example.com"}
	if _, err := b.app.Accounts.CreateTenant(ctx, n); err != nil {
		return people{}, err
	}
	found, err := b.app.Accounts.ListMembers(ctx, tenant.System(b.id), member.Search{Limit: 1})
	if err != nil {
		return people{}, err
	}
	b.owner = tenant.Caller{
		Tenant: b.id, Subject: "demo-owner", Member: found[0].ID, Roles: []string{tenant.RoleOwner},
		May: grant.PermissionsOf(tenant.RoleOwner),
	}
	// No quiet hours, so that messages are sent when someone tries Berth at night.
	if _, err := b.app.Messages.UpdateNotificationSettings(
		ctx, b.owner, nil, func(s *notify.Settings) { s.QuietHours = notify.QuietHours{} },
	); err != nil {
		return people{}, err
	}
	if _, err := b.addMember(ctx, "demo-admin", "Ada Admin", tenant.RoleAdmin); err != nil {
		return people{}, err
	}
	coach, err := b.addMember(ctx, "demo-coach", "Cleo Coach", tenant.RoleCoach)
	if err != nil {
		return people{}, err
	}
	m, err := b.addMember(ctx, "demo-member", "Mona Member", tenant.RoleMember)
	return people{coaches: []tenant.MemberID{coach.Member}, members: []tenant.Caller{m}}, err
}

// people are the people of a tenant.
type people struct {
	coaches []tenant.MemberID
	members []tenant.Caller
}

// addMember creates a member with a role.
func (b *builder) addMember(ctx context.Context, subject, name, role string) (tenant.Caller, error) {
	m, err := b.app.Accounts.CreateMember(
		ctx, b.owner, member.Member{Subject: subject, Name: name, Email: subject + "@example.com"},
	)
	if err == nil && role != tenant.RoleMember {
		_, err = b.app.Accounts.AssignRole(ctx, b.owner, m.ID, role)
	}
	return tenant.Caller{
		Tenant: b.id, Subject: subject, Member: m.ID, Roles: []string{role}, May: grant.PermissionsOf(role),
	}, err
}

// reportProgress reports the progress of a long step from time to time.
func (b *builder) reportProgress(step string, done, of int) {
	if done%200 == 0 || done == of {
		b.progress(fmt.Sprintf("%s: %d of %d", step, done, of))
	}
}

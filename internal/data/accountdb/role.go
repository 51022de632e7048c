package accountdb

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

var roleRows = pg.NewTable("r", func(r *grant.Role) []pg.Column {
	return []pg.Column{
		pg.Key("name", &r.Name),
		pg.Col("title", &r.Title),
		pg.Col("description", &r.Description),
		pg.Col("permissions", pg.List(&r.Permissions)),
		pg.Col("version", &r.Version),
		pg.Fixed("created_at", &r.CreatedAt),
		pg.Col("updated_at", &r.UpdatedAt),
		pg.Read("r.built_in", &r.BuiltIn),
		pg.Read(`
  (select count(*) from member_roles h where h.tenant_id = r.tenant_id and h.role = r.name)
  + (select count(*) from service_account_roles h where h.tenant_id = r.tenant_id and h.role = r.name)`, &r.Holders),
	}
})

var (
	roles = pg.ReadAs(roleRows.Of, func(r *grant.Role) (grant.Role, error) {
		if r.BuiltIn {
			return grant.BuiltIn(*r), nil
		}
		return *r, nil
	})
	ownRoles = pg.NewReader(func(r *grant.Role) []pg.Column {
		return []pg.Column{pg.Read("r.name", &r.Name), pg.Read("r.permissions", &r.Permissions)}
	})
)

var (
	findRole  = pg.SQL(`select ` + roles.Columns() + ` from roles r where r.tenant_id = $1 and r.name = $2`)
	listRoles = pg.SQL(`select ` + roles.Columns() + ` from roles r
where r.tenant_id = $1 and ($3::text = '' or
  (coalesce(array_position($2::text[], r.name), 1000), r.name) > (coalesce(array_position($2, $3), 1000), $3))
  -- Permissions of built-in roles are not stored.
  and ($4::text = '' or case when r.built_in then r.name = any($5::text[]) else $4 = any(r.permissions) end)
  and ($6::boolean is null or r.built_in = $6)
order by coalesce(array_position($2, r.name), 1000), r.name limit $7`)
	listOwnRoles = pg.SQL(`select ` + ownRoles.Columns() + ` from roles r
where r.tenant_id = $1 and not r.built_in order by r.name`)
	listHolders = pg.SQL(`select ` + members.Columns() + ` from member_roles h
  join members m on m.tenant_id = h.tenant_id and m.id = h.member_id
where h.tenant_id = $1 and h.role = $2`)
	insertRole = pg.SQL(`insert into roles ` + roleRows.Values())
	updateRole = pg.SQL(`update roles set ` + roleRows.Set() + ` where tenant_id = $1 and name = $2 and not built_in`)
)

// FindRole reads a role; nil if there is none.
func FindRole(b *pg.Batch, in tenant.TenantID, name string, into **grant.Role) {
	roles.Find(b.Queue(findRole, in, name), into)
}

// ListRoles reads roles: the built-in ones by rank, then the tenant's own by name.
func ListRoles(b *pg.Batch, in tenant.TenantID, s grant.RoleSearch, into *[]grant.Role) {
	roles.List(b.Queue(listRoles, in,
		grant.BuiltInNames(), s.After, s.Permission, grant.BuiltInWith(s.Permission), s.BuiltIn, s.Limit), into)
}

// ListOwnRoles reads the names and permissions of the roles that are not built in.
func ListOwnRoles(b *pg.Batch, in tenant.TenantID, into *[]grant.Role) {
	ownRoles.List(b.Queue(listOwnRoles, in), into)
}

// ListMemberRoles reads the current roles of a member or a service account. An inactive member and a revoked account
// have none.
func ListMemberRoles(
	b *pg.Batch, in tenant.TenantID, of tenant.MemberID, account tenant.ServiceAccountID, into *[]string,
) {
	pg.Collect(b.Queue(`
select r.role from member_roles r join members m on m.tenant_id = r.tenant_id and m.id = r.member_id
where r.tenant_id = $1 and r.member_id = $2 and m.status = 'ACTIVE'
union all
select r.role from service_account_roles r join service_accounts a on a.tenant_id = r.tenant_id and a.id = r.account_id
where r.tenant_id = $1 and r.account_id = $3 and a.revoked_at is null`, in, of, account), into, pgx.RowTo[string])
}

// ActorRole is a role of a member or a service account, by its name as an actor.
type ActorRole struct{ Actor, Role string }

// ListRolesOfActors reads the current roles of members and service accounts. Inactive and revoked ones have none.
func ListRolesOfActors(b *pg.Batch, in tenant.TenantID, actors []string, into *[]ActorRole) {
	var members []tenant.MemberID
	var accounts []tenant.ServiceAccountID
	for _, actor := range actors {
		if named, ok := strings.CutPrefix(actor, tenant.AccountPrefix); ok {
			if id, err := tenant.Parse[tenant.ServiceAccountID](named); err == nil {
				accounts = append(accounts, id)
			}
		} else if id, err := tenant.Parse[tenant.MemberID](actor); err == nil {
			members = append(members, id)
		}
	}
	pg.Collect(b.Queue(`
select r.member_id::text, r.role from member_roles r join members m on m.tenant_id = r.tenant_id and m.id = r.member_id
where r.tenant_id = $1 and r.member_id = any($2) and m.status = 'ACTIVE'
union all
select $4 || r.account_id::text, r.role from service_account_roles r
  join service_accounts a on a.tenant_id = r.tenant_id and a.id = r.account_id
where r.tenant_id = $1 and r.account_id = any($3) and a.revoked_at is null`,
		in, members, accounts, tenant.AccountPrefix), into, pgx.RowToStructByPos[ActorRole])
}

// ListHolders reads the members who have a role, in no order.
func ListHolders(b *pg.Batch, in tenant.TenantID, role string, into *[]member.Member) {
	members.List(b.Queue(listHolders, in, role), into)
}

// InsertRole inserts a role.
func InsertRole(tx *pg.Tx, in tenant.TenantID, r grant.Role) {
	tx.Write(insertRole, roleRows.Insert(in, &r)...)
}

// UpdateRole updates a role.
func UpdateRole(tx *pg.Tx, in tenant.TenantID, r grant.Role) {
	tx.Write(updateRole, roleRows.Update(in, &r)...)
}

// DeleteRole deletes a role. A foreign key rejects it while anyone has the role.
func DeleteRole(tx *pg.Tx, in tenant.TenantID, name string) {
	tx.Write(`delete from roles where tenant_id = $1 and name = $2 and not built_in`, in, name)
}

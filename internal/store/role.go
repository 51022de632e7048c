package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
)

const roleColumns = `
  r.name, r.title, r.description, r.permissions, r.built_in, r.version, r.created_at, r.updated_at,
  (select count(*) from member_roles h where h.tenant_id = r.tenant_id and h.role = r.name)
  + (select count(*) from service_account_roles h where h.tenant_id = r.tenant_id and h.role = r.name)`

func scanRole(row pgx.Row) (grant.Role, error) {
	var r grant.Role
	err := row.Scan(&r.Name, &r.Title, &r.Description, &r.Permissions, &r.BuiltIn, &r.Version, &r.CreatedAt, &r.UpdatedAt, &r.Holders)
	if r.BuiltIn {
		r = grant.BuiltIn(r)
	}
	return r, err
}

// FindRole reads a role; nil where there is none.
func FindRole(b *pg.Batch, in tenant.TenantID, name string, into **grant.Role) {
	b.Queue(`select`+roleColumns+` from roles r where r.tenant_id = $1 and r.name = $2`, in, name).QueryRow(func(row pgx.Row) error {
		r, err := scanRole(row)
		return found(into, r, err)
	})
}

// ListRoles reads roles: the built-in ones by rank, then the tenant's own by name.
func ListRoles(b *pg.Batch, in tenant.TenantID, s grant.Search, into *[]grant.Role) {
	pg.Collect(b.Queue(`select`+roleColumns+` from roles r
where r.tenant_id = $1 and ($3::text = '' or
  (coalesce(array_position($2::text[], r.name), 1000), r.name) > (coalesce(array_position($2, $3), 1000), $3))
order by coalesce(array_position($2, r.name), 1000), r.name limit $4`, in, grant.BuiltInNames(), s.After, s.Limit), into,
		func(row pgx.CollectableRow) (grant.Role, error) { return scanRole(row) })
}

// ListOwnRoles reads what the tenant's own roles give: their names and permissions, no more.
func ListOwnRoles(b *pg.Batch, in tenant.TenantID, into *[]grant.Role) {
	pg.Collect(b.Queue(`select name, permissions from roles where tenant_id = $1 and not built_in order by name`, in), into,
		func(row pgx.CollectableRow) (grant.Role, error) {
			var r grant.Role
			err := row.Scan(&r.Name, &r.Permissions)
			return r, err
		})
}

// ListHeldRoles reads the roles that a member or a service account has at this
// moment: none while they are not in force.
func ListHeldRoles(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, account tenant.ServiceAccountID, into *[]string) {
	pg.Collect(b.Queue(`
select r.role from member_roles r join members m on m.tenant_id = r.tenant_id and m.id = r.member_id
where r.tenant_id = $1 and r.member_id = $2 and m.status = 'ACTIVE'
union all
select r.role from service_account_roles r join service_accounts a on a.tenant_id = r.tenant_id and a.id = r.account_id
where r.tenant_id = $1 and r.account_id = $3 and a.revoked_at is null`, in, member, account), into, pgx.RowTo[string])
}

// InsertRole writes a new role with the transaction.
func InsertRole(tx *pg.Tx, in tenant.TenantID, r grant.Role) {
	tx.Write(`
insert into roles (tenant_id, name, title, description, permissions, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`, in, r.Name, r.Title, r.Description, texts(r.Permissions), r.Version, r.CreatedAt, r.UpdatedAt)
}

// UpdateRole writes a role's edit with the transaction.
func UpdateRole(tx *pg.Tx, in tenant.TenantID, r grant.Role) {
	tx.Write(`
update roles set title = $3, description = $4, permissions = $5, version = $6, updated_at = $7
where tenant_id = $1 and name = $2 and not built_in`, in, r.Name, r.Title, r.Description, texts(r.Permissions), r.Version, r.UpdatedAt)
}

// DeleteRole deletes a role with the transaction. A foreign key refuses it while someone holds the role.
func DeleteRole(tx *pg.Tx, in tenant.TenantID, name string) {
	tx.Write(`delete from roles where tenant_id = $1 and name = $2 and not built_in`, in, name)
}

// texts keeps an absent list from becoming NULL.
func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

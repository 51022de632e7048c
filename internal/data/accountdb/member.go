// Package accountdb has the SQL of tenants, members, devices, roles and service accounts.
package accountdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/fold"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

var memberRows = pg.NewTable("m", func(m *member.Member) []pg.Column {
	return []pg.Column{
		pg.Key("id", &m.ID),
		pg.Col("subject", &m.Subject),
		pg.Col("name", &m.Name),
		pg.Col("name_key", pg.Derived(&m.Name, fold.Text)),
		pg.Col("email", &m.Email),
		pg.Col("phone", &m.Phone),
		pg.Col("confirmed_email", &m.ConfirmedEmail),
		pg.Col("confirmed_phone", &m.ConfirmedPhone),
		pg.Col("sign_in_email", &m.SignInEmail),
		pg.Col("email_by", &m.EmailBy),
		pg.Col("by_invitation", &m.ByInvitation),
		pg.Col("linked_by_email", &m.LinkedByEmail),
		pg.Col("tier", &m.Tier),
		pg.Col("tags", pg.List(&m.Tags)),
		pg.Col("status", &m.Status),
		pg.Col("locale", &m.Locale),
		pg.Col("time_zone", &m.TimeZone),
		pg.Col("notes", &m.Notes),
		pg.Col("version", &m.Version),
		pg.Fixed("created_at", &m.CreatedAt),
		pg.Col("updated_at", &m.UpdatedAt),
	}
})

var members = pg.ReadAs(func(m *member.Member) []pg.Column {
	return append(memberRows.Of(m),
		pg.Read("array(select r.role from member_roles r where r.tenant_id = m.tenant_id and r.member_id = m.id)", &m.Roles))
}, func(m *member.Member) (member.Member, error) {
	grant.Sort(m.Roles)
	return *m, nil
})

var (
	findMember      = pg.SQL(`select ` + members.Columns() + ` from members m where m.tenant_id = $1 and m.id = $2`)
	listMembersByID = pg.SQL(`select ` + members.Columns() + ` from members m
where m.tenant_id = $1 and m.id = any($2)`)
	findMemberBySubject = pg.SQL(`select ` + members.Columns() + ` from members m
where m.tenant_id = $1 and m.subject = $2 and m.subject <> ''`)
	findMemberByEmail = pg.SQL(`select ` + members.Columns() + ` from members m
where m.tenant_id = $1 and m.email_key = lower($2) and m.email_key <> ''`)
	findIssuer = pg.SQL(`
select coalesce(
  (select m.issuer from members m where m.tenant_id = $1 and m.subject = $2 and m.subject <> ''), '')`)
	bindIssuer = pg.SQL(`
update members set issuer = $3 where tenant_id = $1 and id = $2 and issuer = any($4)`)
	listMembers = pg.SQL(`select ` + members.Columns() + ` from members m
where m.tenant_id = $1
  -- No name is empty, so the first page starts after an empty name.
  and (m.name_key, m.id) > ($2::text, coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
  and ($4::text = '' or strpos(m.name_key, $11) > 0 or strpos(m.email_key, lower($4)) > 0
    or ($5::text <> '' and strpos(m.phone, $5) > 0))
  and ($6::text = '' or exists (
    select from member_roles r where r.tenant_id = m.tenant_id and r.member_id = m.id and r.role = $6))
  and ($7::text = '' or m.tier = $7)
  and ($8::text = '' or $8 = any(m.tags))
  and ($9::text[] is null or m.status = any($9))
  and ($12::uuid is null or m.id in (
    select unnest(i.created_ids) from imports i where i.tenant_id = $1 and i.id = $12 and i.kind = 'MEMBERS'))
  and (not $13::boolean or ` + invitableAt("$14") + `)
order by m.name_key, m.id limit $10`)
	listOldAddresses = pg.SQL(`select ` + members.Columns() + ` from sign_in_addresses a
  join members m on m.tenant_id = a.tenant_id and m.id = a.member_id
where a.tenant_id = $1 and a.key_check <> $2 order by a.member_id limit $3`)
	insertMembers = pg.SQL(`insert into members ` + memberRows.Rows())
	updateMember  = pg.SQL(`update members set ` + memberRows.Set() + ` where tenant_id = $1 and id = $2`)
	updateMembers = pg.SQL(`
update members m set ` + memberRows.SetChanges() + `
from (select * from ` + memberRows.Changes() + ` limit cardinality($2)) as x
where m.tenant_id = $1 and m.id = x.id`)
)

// FindMember reads a member; nil if there is none.
func FindMember(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into **member.Member) {
	members.Find(b.Queue(findMember, in, id), into)
}

// ListMembersByID reads members, in no order.
func ListMembersByID(b *pg.Batch, in tenant.TenantID, ids []tenant.MemberID, into *[]member.Member) {
	members.List(b.Queue(listMembersByID, in, ids), into)
}

// FindMemberByEmail reads the member with an email address, ignoring case; nil if there is none.
func FindMemberByEmail(b *pg.Batch, in tenant.TenantID, email string, into **member.Member) {
	members.Find(b.Queue(findMemberByEmail, in, email), into)
}

// FindIssuer reads the issuer of the member whose tokens have the subject; empty if there is none.
func FindIssuer(b *pg.Batch, in tenant.TenantID, subject string, into *string) {
	b.Queue(findIssuer, in, subject).Scan(into)
}

// BindIssuer makes an issuer the one of a member's tokens, if it was one of others.
func BindIssuer(tx *pg.Tx, in tenant.TenantID, m tenant.MemberID, issuer string, others []string) {
	tx.Write(bindIssuer, in, m, issuer, others)
}

// FindMemberBySubject reads the member whose tokens have the subject; nil if there is none.
func FindMemberBySubject(b *pg.Batch, in tenant.TenantID, subject string, into **member.Member) {
	members.Find(b.Queue(findMemberBySubject, in, subject), into)
}

// ListMembers searches members. It sorts them by name, then id.
func ListMembers(b *pg.Batch, in tenant.TenantID, s member.Search, into *[]member.Member) {
	var after member.Cursor
	if s.After != nil {
		after = *s.After
	}
	members.List(b.Queue(listMembers,
		in, fold.Text(after.Name), after.ID, s.Query, s.Digits(), s.Role, s.Tier, s.Tag, s.Statuses, s.Limit,
		fold.Text(s.Query), s.Import, s.Invitable, s.Now), into)
}

// ListTaken reads which of the emails and subjects belong to members, and which of the names to active members
// without an email. Emails are in lower case, and names as fold.Text returns them.
func ListTaken(b *pg.Batch, in tenant.TenantID, emails, subjects, names []string, into *member.Existing) {
	pg.Collect(b.Queue(`select m.email_key, m.name_key from members m
where m.tenant_id = $1 and m.email_key = any($2) and m.email_key <> ''`, in, emails),
		&into.Emails, pgx.RowToStructByPos[member.Addressee])
	pg.Collect(b.Queue(`select m.subject from members m
where m.tenant_id = $1 and m.subject = any($2) and m.subject <> ''`, in, subjects), &into.Subjects, pgx.RowTo[string])
	pg.Collect(b.Queue(`select distinct m.name_key from members m
where m.tenant_id = $1 and m.name_key = any($2) and m.email_key = '' and m.status = 'ACTIVE'`,
		in, names), &into.Names, pgx.RowTo[string])
}

// selectKnown reads what a file may say of active members.
var selectKnown = `select m.id, m.subject, m.email_key, m.phone, m.name_key from members m
where m.tenant_id = $1 and m.status = 'ACTIVE'`

// Each part can use an index of its own.
var listKnown = pg.SQL(selectKnown + ` and m.subject = any($2) and m.subject <> '' union ` +
	selectKnown + ` and m.email_key = any($3) and m.email_key <> '' union ` +
	selectKnown + ` and m.phone = any($4) and m.phone <> '' union ` + selectKnown + ` and m.name_key = any($5)`)

// ListKnown reads the active members who have one of what is sought.
func ListKnown(b *pg.Batch, in tenant.TenantID, s member.SoughtPeople, into *[]member.Known) {
	pg.Collect(b.Queue(listKnown, in, s.Subjects, s.Emails, s.Phones, s.Names), into, pgx.RowToStructByPos[member.Known])
}

// FindOtherOwner reads whether there is an active owner other than the given member.
func FindOtherOwner(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into *bool) {
	b.Queue(`select exists (
  select from member_roles r join members m on m.tenant_id = r.tenant_id and m.id = r.member_id
  where r.tenant_id = $1 and r.role = $3 and r.member_id <> $2 and m.status = 'ACTIVE')`, in, id, tenant.RoleOwner).
		Scan(into)
}

// InsertMembers inserts members with their roles.
func InsertMembers(tx *pg.Tx, in tenant.TenantID, all ...member.Member) {
	var holders []tenant.MemberID
	var roles []string
	var times []time.Time
	for _, m := range all {
		for _, role := range m.Roles {
			holders, roles, times = append(holders, m.ID), append(roles, role), append(times, m.CreatedAt)
		}
	}
	rows := pg.Array(all, func(m member.Member) *member.Member {
		m.Version, m.UpdatedAt = 1, m.CreatedAt
		return &m
	})
	tx.Write(insertMembers, memberRows.InsertAll(in, rows)...)
	tx.Write(`
insert into member_roles (tenant_id, member_id, role, created_at)
select $1, r.member_id, r.role, r.at from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as r (member_id, role, at)`,
		in, holders, roles, times)
}

// UpdateMember updates a member, but not the member's roles.
func UpdateMember(tx *pg.Tx, in tenant.TenantID, m member.Member) {
	tx.Write(updateMember, memberRows.Update(in, &m)...)
}

// EndMembers updates members who end before anybody used the membership, and ends what would let somebody do so: codes,
// and open invitations with their mails.
func EndMembers(tx *pg.Tx, in tenant.TenantID, all []member.Member, now time.Time) {
	ids := pg.Array(all, func(m member.Member) tenant.MemberID { return m.ID })
	tx.Write(updateMembers, memberRows.UpdateAll(in, pg.Array(all, func(m member.Member) *member.Member { return &m }))...)
	tx.Write(`delete from sign_in_addresses where tenant_id = $1 and member_id = any($2)`, in, ids)
	tx.Write(`delete from sign_in_codes where tenant_id = $1 and member_id = any($2)`, in, ids)
	tx.Write(`delete from contact_codes where tenant_id = $1 and member_id = any($2)`, in, ids)
	tx.Write(`delete from pending_contacts where tenant_id = $1 and member_id = any($2)`, in, ids)
	tx.Write(`
delete from platform_mails p using invitations v
where p.tenant_id = $1 and v.tenant_id = $1 and p.about = v.id and v.member_id = any($2)`, in, ids)
	tx.Write(`
update invitations set revoked_at = $3
where tenant_id = $1 and member_id = any($2) and accepted_at is null and revoked_at is null`, in, ids, now)
}

// InsertMemberRole gives a member a role, unless they have it already.
func InsertMemberRole(tx *pg.Tx, in tenant.TenantID, id tenant.MemberID, role string, at time.Time) {
	tx.Write(`
insert into member_roles (tenant_id, member_id, role, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
		in, id, role, at)
}

// DeleteMemberRole takes a role from a member.
func DeleteMemberRole(tx *pg.Tx, in tenant.TenantID, id tenant.MemberID, role string) {
	tx.Write(`delete from member_roles where tenant_id = $1 and member_id = $2 and role = $3`, in, id, role)
}

// Person is a member's name.
type Person struct {
	ID   tenant.MemberID
	Name string
}

// ListPeople reads the names of members.
func ListPeople(b *pg.Batch, in tenant.TenantID, ids []tenant.MemberID, into *[]Person) {
	pg.Collect(b.Queue(`select id, name from members where tenant_id = $1 and id = any($2)`, in, ids), into,
		pgx.RowToStructByPos[Person])
}

// FindLocaleByPhone reads the locale of an active member with a phone number, in E.164. It is empty if there is no such
// member, or if none has chosen a locale.
func FindLocaleByPhone(b *pg.Batch, in tenant.TenantID, phone string, into *string) {
	b.Queue(`select coalesce((
  select locale from members
  where tenant_id = $1 and phone = $2 and phone <> '' and status = 'ACTIVE' and locale <> '' order by id limit 1), '')`,
		in, phone).Scan(into)
}

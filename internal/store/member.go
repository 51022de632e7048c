package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

const memberColumns = `
  m.id, m.subject, m.name, m.email, m.phone, m.tier, m.tags, m.status, m.locale, m.time_zone, m.notes,
  m.version, m.created_at, m.updated_at,
  array(select r.role from member_roles r where r.tenant_id = m.tenant_id and r.member_id = m.id)`

func scanMember(row pgx.Row) (member.Member, error) {
	var m member.Member
	err := row.Scan(&m.ID, &m.Subject, &m.Name, &m.Email, &m.Phone, &m.Tier, &m.Tags, &m.Status, &m.Locale, &m.TimeZone, &m.Notes,
		&m.Version, &m.CreatedAt, &m.UpdatedAt, &m.Roles)
	grant.Sort(m.Roles)
	return m, err
}

// FindMember reads a member; nil where there is none.
func FindMember(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into **member.Member) {
	b.Queue(`select`+memberColumns+` from members m where m.tenant_id = $1 and m.id = $2`, in, id).
		QueryRow(func(row pgx.Row) error {
			m, err := scanMember(row)
			return found(into, m, err)
		})
}

// FindMemberBySubject reads the member whose tokens have the subject; nil where there is none.
func FindMemberBySubject(b *pg.Batch, in tenant.TenantID, subject string, into **member.Member) {
	b.Queue(`select`+memberColumns+` from members m where m.tenant_id = $1 and m.subject = $2 and m.subject <> ''`, in, subject).
		QueryRow(func(row pgx.Row) error {
			m, err := scanMember(row)
			return found(into, m, err)
		})
}

// ListMembers searches members, by name, then id.
func ListMembers(b *pg.Batch, in tenant.TenantID, s member.Search, into *[]member.Member) {
	var after member.Position
	if s.After != nil {
		after = *s.After
	}
	pg.Collect(b.Queue(`select`+memberColumns+` from members m
where m.tenant_id = $1
  -- No name is empty, so that the first page begins at an empty one.
  and (m.name_key, m.id) > (lower($2::text), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
  and ($4::text = '' or strpos(m.name_key, lower($4)) > 0 or strpos(m.email_key, lower($4)) > 0
    or ($5::text <> '' and strpos(m.phone, $5) > 0))
  and ($6::text = '' or exists (
    select from member_roles r where r.tenant_id = m.tenant_id and r.member_id = m.id and r.role = $6))
  and ($7::text = '' or m.tier = $7)
  and ($8::text = '' or $8 = any(m.tags))
  and ($9::text = '' or m.status = $9)
order by m.name_key, m.id limit $10`,
		in, after.Name, after.ID, s.Query, s.Digits(), s.Role, s.Tier, s.Tag, string(s.Status), s.Limit), into,
		func(row pgx.CollectableRow) (member.Member, error) { return scanMember(row) })
}

// ListTaken reads which of the emails and subjects members have, spelled as given.
func ListTaken(b *pg.Batch, in tenant.TenantID, emails, subjects []string, takenEmails, takenSubjects *[]string) {
	pg.Collect(b.Queue(`select e.email from unnest($2::text[]) as e (email)
where exists (select from members m where m.tenant_id = $1 and m.email_key = lower(e.email) and m.email_key <> '')`, in, emails),
		takenEmails, pgx.RowTo[string])
	pg.Collect(b.Queue(`select s.subject from unnest($2::text[]) as s (subject)
where exists (select from members m where m.tenant_id = $1 and m.subject = s.subject and m.subject <> '')`, in, subjects),
		takenSubjects, pgx.RowTo[string])
}

// FindOtherOwner tells whether an active owner is there besides a member.
func FindOtherOwner(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into *bool) {
	b.Queue(`select exists (
  select from member_roles r join members m on m.tenant_id = r.tenant_id and m.id = r.member_id
  where r.tenant_id = $1 and r.role = $3 and r.member_id <> $2 and m.status = 'ACTIVE')`, in, id, tenant.RoleOwner).Scan(into)
}

// InsertMembers writes new members with the transaction. Each of them gets its roles.
func InsertMembers(tx *pg.Tx, in tenant.TenantID, members ...member.Member) {
	n := len(members)
	var ids, holders []tenant.MemberID
	var subjects, names, emails, phones, tiers, statuses, locales, zones, notes, roles []string
	tags := make([][]byte, 0, n) // Postgres has no arrays of arrays of different lengths
	created := make([]time.Time, 0, n)
	granted := make([]time.Time, 0, n)
	for _, m := range members {
		ids = append(ids, m.ID)
		subjects, names, emails = append(subjects, m.Subject), append(names, m.Name), append(emails, m.Email)
		phones, tiers, statuses = append(phones, m.Phone), append(tiers, m.Tier), append(statuses, string(m.Status))
		locales, zones, notes = append(locales, m.Locale), append(zones, m.TimeZone), append(notes, m.Notes)
		tags, created = append(tags, encodeTexts(m.Tags)), append(created, m.CreatedAt)
		for _, role := range m.Roles {
			holders, roles, granted = append(holders, m.ID), append(roles, role), append(granted, m.CreatedAt)
		}
	}
	tx.Write(`
insert into members (tenant_id, id, subject, name, email, phone, tier, tags, status, locale, time_zone, notes, created_at, updated_at)
select $1, m.id, m.subject, m.name, m.email, m.phone, m.tier, array(select jsonb_array_elements_text(m.tags)), m.status,
  m.locale, m.time_zone, m.notes, m.at, m.at
from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::text[], $10::text[], $11::text[],
  $12::text[], $13::timestamptz[]) as m (id, subject, name, email, phone, tier, tags, status, locale, time_zone, notes, at)`,
		in, ids, subjects, names, emails, phones, tiers, tags, statuses, locales, zones, notes, created)
	tx.Write(`
insert into member_roles (tenant_id, member_id, role, created_at)
select $1, r.member_id, r.role, r.at from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as r (member_id, role, at)`,
		in, holders, roles, granted)
}

func encodeTexts(texts []string) []byte {
	if len(texts) == 0 {
		return []byte("[]")
	}
	encoded, err := json.Marshal(texts)
	if err != nil {
		panic("store: texts: " + err.Error()) // texts always are JSON
	}
	return encoded
}

// UpdateMember writes a member's edit with the transaction. Roles are written apart.
func UpdateMember(tx *pg.Tx, in tenant.TenantID, m member.Member) {
	tx.Write(`
update members set subject = $3, name = $4, email = $5, phone = $6, tier = $7, tags = $8, status = $9, locale = $10, time_zone = $11,
  notes = $12, version = $13, updated_at = $14
where tenant_id = $1 and id = $2`,
		in, m.ID, m.Subject, m.Name, m.Email, m.Phone, m.Tier, m.Tags, string(m.Status), m.Locale, m.TimeZone, m.Notes, m.Version, m.UpdatedAt)
}

// InsertMemberRole gives a member a role with the transaction; once they have it nothing changes.
func InsertMemberRole(tx *pg.Tx, in tenant.TenantID, id tenant.MemberID, role string, at time.Time) {
	tx.Write(`insert into member_roles (tenant_id, member_id, role, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
		in, id, role, at)
}

// DeleteMemberRole takes a role from a member with the transaction.
func DeleteMemberRole(tx *pg.Tx, in tenant.TenantID, id tenant.MemberID, role string) {
	tx.Write(`delete from member_roles where tenant_id = $1 and member_id = $2 and role = $3`, in, id, role)
}

// Person is what a member is called.
type Person struct {
	ID   tenant.MemberID
	Name string
}

// ListPeople reads what members are called.
func ListPeople(b *pg.Batch, in tenant.TenantID, ids []tenant.MemberID, into *[]Person) {
	pg.Collect(b.Queue(`select id, name from members where tenant_id = $1 and id = any($2)`, in, ids), into, func(row pgx.CollectableRow) (Person, error) {
		var p Person
		err := row.Scan(&p.ID, &p.Name)
		return p, err
	})
}

// FindLocaleByPhone reads the language of an active member with a number, in E.164; empty where nobody has chosen one.
func FindLocaleByPhone(b *pg.Batch, in tenant.TenantID, phone string, into *string) {
	b.Queue(`select coalesce((
  select locale from members where tenant_id = $1 and phone = $2 and phone <> '' and status = 'ACTIVE' and locale <> '' order by id limit 1), '')`, in, phone).
		Scan(into)
}

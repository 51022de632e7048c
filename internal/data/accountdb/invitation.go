package accountdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

var invitations = pg.NewTable("v", func(i *member.Invitation) []pg.Column {
	return []pg.Column{
		pg.Key("id", &i.ID),
		pg.Fixed("member_id", &i.Member),
		pg.Fixed("address", &i.Address),
		pg.Fixed("roles", pg.List(&i.Roles)),
		pg.Fixed("invited_by", &i.InvitedBy),
		pg.Fixed("created_at", &i.CreatedAt),
		pg.Fixed("sent_at", &i.SentAt),
		pg.Fixed("expires_at", &i.ExpiresAt),
		pg.Later("accepted_at", &i.AcceptedAt),
		pg.Later("revoked_at", &i.RevokedAt),
	}
})

var invited = pg.NewReader(func(i *member.Invited) []pg.Column {
	return append(invitations.Of(&i.Invitation), pg.Read("m.name", &i.Name))
})

var (
	listInvitations = pg.SQL(`select ` + invited.Columns() + ` from invitations v
  join members m on m.tenant_id = v.tenant_id and m.id = v.member_id
where v.tenant_id = $1 and ($2::uuid is null or v.member_id = $2)
  and (coalesce(cardinality($3::text[]), 0) = 0 or case
    when v.accepted_at is not null then 'ACCEPTED'
    when v.revoked_at is not null then 'REVOKED'
    when v.expires_at <= $4::timestamptz then 'EXPIRED'
    when v.sent_at > $4 then 'WAITING'
    else 'SENT' end = any($3))
  and ($5::uuid is null or v.id < $5)
order by v.id desc limit $6`)
	findInvitation = pg.SQL(`select ` + invitations.Columns() + ` from invitations v
where v.tenant_id = $1 and v.id = $2`)
	findInvited = pg.SQL(`select ` + members.Columns() + ` from members m
where m.tenant_id = $1
  and m.id = (select v.member_id from invitations v where v.tenant_id = $1 and v.id = $2)`)
	countInvitable = pg.SQL(`
select count(*) filter (where ` + invitableAt("$3") + `), count(*) filter (where m.status = 'ACTIVE' and m.email = '')
from imports i
cross join lateral (select * from unnest(i.created_ids) as c (id) offset 0) c
join members m on m.tenant_id = $1 and m.id = c.id
where i.tenant_id = $1 and i.id = $2 and i.kind = 'MEMBERS'`)
	insertInvitation = pg.SQL(`insert into invitations ` + invitations.Values())
)

// invitableAt are the members `m` who can be invited at a time, which is a parameter, and have not been.
func invitableAt(now string) string {
	return `(m.status = 'ACTIVE' and m.email <> '' and m.subject = '' and m.sign_in_email = ''
  and not exists (select from invitations v where v.tenant_id = $1 and v.member_id = m.id
    and v.accepted_at is null and v.revoked_at is null and v.expires_at > ` + now + `))`
}

// CountInvitable reads how many of the members whom an import created can be invited and have not been, and how many
// cannot because they have no email.
func CountInvitable(
	b *pg.Batch, in tenant.TenantID, id tenant.ImportID, now time.Time, invitable, withoutEmail *int,
) {
	b.Queue(countInvitable, in, id, now).Scan(invitable, withoutEmail)
}

// FindInvitation reads an invitation; nil if there is none.
func FindInvitation(b *pg.Batch, in tenant.TenantID, id tenant.InvitationID, into **member.Invitation) {
	invitations.Find(b.Queue(findInvitation, in, id), into)
}

// FindInvited reads the member whom an invitation invites; nil if there is none.
func FindInvited(b *pg.Batch, in tenant.TenantID, id tenant.InvitationID, into **member.Member) {
	members.Find(b.Queue(findInvited, in, id), into)
}

// ListDepartures reads when the invitations leave that do so last, the latest first.
func ListDepartures(b *pg.Batch, in tenant.TenantID, limit int, into *member.Departures) {
	pg.Collect(b.Queue(`select sent_at from invitations where tenant_id = $1 order by sent_at desc limit $2`, in, limit),
		(*[]time.Time)(into), pgx.RowTo[time.Time])
}

// ListInvitedOften reads the addresses, in lower case, to which so many invitations have been sent since a time, or
// will be.
func ListInvitedOften(b *pg.Batch, in tenant.TenantID, since time.Time, often int, into *[]string) {
	pg.Collect(b.Queue(`
select lower(address) from invitations where tenant_id = $1 and sent_at > $2
group by lower(address) having count(*) >= $3`, in, since, often), into, pgx.RowTo[string])
}

// ListInvitations reads invitations with the names of their members, the newest first.
func ListInvitations(b *pg.Batch, in tenant.TenantID, s member.InvitationSearch, into *[]member.Invited) {
	invited.List(b.Queue(listInvitations, in, s.Member, s.States, s.Now, s.After, s.Limit), into)
}

// HasOldInvitations reads whether an invitation expired before a time.
func HasOldInvitations(b *pg.Batch, in tenant.TenantID, until time.Time, into *bool) {
	b.Queue(`select exists (select from invitations where tenant_id = $1 and expires_at < $2)`, in, until).Scan(into)
}

// DeleteOldInvitations deletes the invitations that expired before a time.
func DeleteOldInvitations(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`delete from invitations where tenant_id = $1 and expires_at < $2`, in, until)
}

// InsertInvitation inserts an invitation.
func InsertInvitation(tx *pg.Tx, in tenant.TenantID, i member.Invitation) {
	tx.Write(insertInvitation, invitations.Insert(in, &i)...)
}

// AcceptInvitation writes that an invitation was accepted.
func AcceptInvitation(tx *pg.Tx, in tenant.TenantID, id tenant.InvitationID, at time.Time) {
	tx.Write(`update invitations set accepted_at = $3 where tenant_id = $1 and id = $2`, in, id, at)
}

// EndInvitations ends a member's open invitation, if there is one, and deletes its mail if that has not left.
func EndInvitations(tx *pg.Tx, in tenant.TenantID, of tenant.MemberID, at time.Time) {
	tx.Write(`
delete from platform_mails p using invitations v
where p.tenant_id = $1 and v.tenant_id = $1 and p.about = v.id and v.member_id = $2`, in, of)
	tx.Write(`
update invitations set revoked_at = $3
where tenant_id = $1 and member_id = $2 and accepted_at is null and revoked_at is null`, in, of, at)
}

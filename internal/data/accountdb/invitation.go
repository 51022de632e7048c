package accountdb

import (
	"time"

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

var (
	findInvitation = pg.SQL(`select ` + invitations.Columns() + ` from invitations v
where v.tenant_id = $1 and v.id = $2`)
	findInvited = pg.SQL(`select ` + members.Columns() + ` from members m
where m.tenant_id = $1
  and m.id = (select v.member_id from invitations v where v.tenant_id = $1 and v.id = $2)`)
	insertInvitation = pg.SQL(`insert into invitations ` + invitations.Values())
)

// FindInvitation reads an invitation; nil if there is none.
func FindInvitation(b *pg.Batch, in tenant.TenantID, id tenant.InvitationID, into **member.Invitation) {
	invitations.Find(b.Queue(findInvitation, in, id), into)
}

// FindInvited reads the member whom an invitation invites; nil if there is none.
func FindInvited(b *pg.Batch, in tenant.TenantID, id tenant.InvitationID, into **member.Member) {
	members.Find(b.Queue(findInvited, in, id), into)
}

// FindInvitationBefore reads when the invitation left after which so many others did, from 0; nil if there is none.
func FindInvitationBefore(b *pg.Batch, in tenant.TenantID, others int, into **time.Time) {
	b.Queue(`
select max(sent_at) from (
  select sent_at from invitations where tenant_id = $1 order by sent_at desc offset $2 limit 1) v`,
		in, others).Scan(into)
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

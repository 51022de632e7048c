package coredb

import "strings"

// memberDay reads what else a member has booked around a session `at`. Dates of two time zones differ by less than two
// days.
const memberDay = `
select
  exists (select from bookings b
    where b.tenant_id = $1 and b.member_id = :member and b.session_id <> :session
      and b.starts_at < :at.ends_at and b.ends_at > :at.starts_at
      and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')) as busy,
  exists (select from bookings b join sessions o on o.tenant_id = b.tenant_id and o.id = b.session_id
    where b.tenant_id = $1 and b.member_id = :member and b.session_id <> :session
      and b.starts_at between :at.starts_at - interval '48 hours' and :at.starts_at + interval '48 hours'
      and b.grace_until is not null and o.local_date = :at.local_date) as promoted`

// MemberDay returns a query of whether a member is `busy`, with an active booking that overlaps a session, and was
// `promoted` by the waitlist, without an offer, to another session of the same local day. The arguments are
// expressions: the member, the session, and a row with its starts_at, ends_at and local_date.
func MemberDay(member, session, at string) string {
	return strings.NewReplacer(":member", member, ":session", session, ":at", at).Replace(memberDay)
}

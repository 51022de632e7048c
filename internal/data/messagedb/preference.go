package messagedb

import (
	"crypto/sha256"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// ListPreferences reads the preferences of members. It adds them to the map.
func ListPreferences(
	b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, into map[tenant.MemberID]notify.Preferences,
) {
	var member tenant.MemberID
	var key notify.PreferenceKey
	var on bool
	b.Queue(`
select member_id, topic, channel, enabled from notification_preferences
where tenant_id = $1 and member_id = any($2)`, in, members).Each(func() {
		if into[member] == nil {
			into[member] = make(notify.Preferences)
		}
		into[member][key] = on
	}, &member, &key.Topic, &key.Channel, &on)
}

// PutPreferences writes some of a member's preferences. The others do not change.
func PutPreferences(
	tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, preferences notify.Preferences, at time.Time,
) {
	var topics, channels []string
	var enabled []bool
	for key, on := range preferences {
		topics, channels = append(topics, string(key.Topic)), append(channels, string(key.Channel))
		enabled = append(enabled, on)
	}
	tx.Write(`
insert into notification_preferences (tenant_id, member_id, topic, channel, enabled, updated_at)
select $1, $2, c.topic, c.channel, c.enabled, $6
from unnest($3::text[], $4::text[], $5::boolean[]) as c (topic, channel, enabled)
on conflict (tenant_id, member_id, topic, channel) do update set
  enabled = excluded.enabled, updated_at = excluded.updated_at`,
		in, owner, topics, channels, enabled, at)
}

// MemberQuiet has a member's quiet hours, whether their calendar feed is open, and the version of their preferences.
type MemberQuiet struct {
	Hours   *notify.QuietHours // nil: the tenant's
	HasFeed bool
	Version int // of the preferences and the quiet hours; 0: never edited
}

// FindMemberQuiet reads a member's quiet hours, whether their calendar feed is open, and the version of their
// preferences.
func FindMemberQuiet(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *MemberQuiet) {
	*into = MemberQuiet{}
	var start, end *civil.TimeOfDay
	b.Queue(`
select quiet_hours_start, quiet_hours_end, feed_hash is not null, version from notification_members
where tenant_id = $1 and member_id = $2`, in, owner).Each(func() { into.Hours = quietHours(start, end) },
		&start, &end, &into.HasFeed, &into.Version)
}

// quietHours returns nil if there are none. The database has both ends or neither.
func quietHours(start, end *civil.TimeOfDay) *notify.QuietHours {
	if start == nil || end == nil {
		return nil
	}
	return &notify.QuietHours{Start: *start, End: *end}
}

// PutMemberQuiet writes a member's own quiet hours; nil means the tenant's. The preferences get their next version.
func PutMemberQuiet(
	tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, hours *notify.QuietHours, at time.Time,
) {
	var start, end *civil.TimeOfDay
	if hours != nil {
		start, end = &hours.Start, &hours.End
	}
	tx.Write(`
insert into notification_members (tenant_id, member_id, quiet_hours_start, quiet_hours_end, version, updated_at)
values ($1, $2, $3, $4, 1, $5)
on conflict (tenant_id, member_id) do update set
  quiet_hours_start = excluded.quiet_hours_start, quiet_hours_end = excluded.quiet_hours_end,
  version = notification_members.version + 1, updated_at = excluded.updated_at`,
		in, owner, start, end, at)
}

// PutFeed opens a member's calendar feed. It stores only a hash of the secret.
func PutFeed(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, secret []byte, at time.Time) {
	hash := sha256.Sum256(secret)
	tx.Write(`
insert into notification_members (tenant_id, member_id, feed_hash, updated_at) values ($1, $2, $3, $4)
on conflict (tenant_id, member_id) do update set feed_hash = excluded.feed_hash, updated_at = excluded.updated_at`,
		in, owner, hash[:], at)
}

// CloseFeed closes a member's calendar feed.
func CloseFeed(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, at time.Time) {
	tx.Write(`
update notification_members set feed_hash = null, updated_at = $3 where tenant_id = $1 and member_id = $2
	and feed_hash is not null`,
		in, owner, at)
}

// FindFeed reads the member whose calendar feed has the secret; zero if there is none. Only active members have feeds.
func FindFeed(b *pg.Batch, in tenant.TenantID, secret []byte, into *tenant.MemberID) {
	sum := sha256.Sum256(secret)
	*into = tenant.MemberID{}
	b.Queue(`
select f.member_id from notification_members f join members m on m.tenant_id = f.tenant_id and m.id = f.member_id
where f.tenant_id = $1 and f.feed_hash = $2 and m.status = 'ACTIVE'`, in, sum[:]).ScanAny(into)
}

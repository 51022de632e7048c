package data

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// moveOne moves the places of one of two sessions that have moved.
func moveOne(tx *pg.Tx, in tenant.TenantID, moved tenant.SessionID) {
	tx.Write(`update sessions set local_date = '2026-03-04' where tenant_id = $1 and title in ('Rowing', 'Later')`, in)
	waitlistdb.MovePlaces(tx, in, []tenant.SessionID{moved}, []waitlist.Queue{queue})
}

//nolint:dupword // names of rows
var waitlistWrites = []write{
	{waitlistdb.SkipEntries, args{
		[]waitlist.Verdict{{Entry: id[tenant.EntryID]("third"), Reason: "full"}}, now,
	}, "waitlist_entries third {passed_over_reason=full}"},
	{waitlistdb.SetOrder, args{[]waitlist.Entry{{ID: id[tenant.EntryID]("other"), Flagged: true, Key: 9}}, now}, `
waitlist_entries other {flagged=true join_key=9}
waitlist_places other other {flagged=true join_key=9}
waitlist_places other session {flagged=true join_key=9}
waitlist_places other seventh {flagged=true join_key=9}
waitlist_queues location service 2026-03-02 {last_key=9}
waitlist_queues location service 2026-03-03 {last_key=9}`},
	{waitlistdb.InsertEntry, args{waitlist.Entry{
		ID: id[tenant.EntryID]("fifth"), Member: id[tenant.MemberID]("third"), Session: id[tenant.SessionID]("seventh"),
		Party: 2, Status: waitlist.Waiting, Key: 8, Channel: catalog.Online, CreatedBy: "ana", CreatedAt: now,
	}}, "waitlist_entries +fifth {channel=ONLINE created_at=2026-03-01T12:00:00+00:00 created_by=ana " +
		"join_key=8 member_id=third party_size=2 session_id=seventh status=WAITING " +
		"updated_at=2026-03-01T12:00:00+00:00}"},
	{waitlistdb.InsertEntry, args{waitlist.Entry{
		ID: id[tenant.EntryID]("fifth"), Member: id[tenant.MemberID]("third"), Party: 2, Status: waitlist.Waiting, Key: 8,
		Channel: catalog.Online, CreatedBy: "ana", CreatedAt: now, Window: &waitlist.Window{
			Location: id[tenant.LocationID]("location"), Service: id[tenant.ServiceID]("service"), From: day,
			Until: day.AddDays(1), Earliest: civil.TimeOfDay{Hour: 6}, Latest: civil.TimeOfDay{Hour: 12},
		},
	}}, "waitlist_entries +fifth {channel=ONLINE created_at=2026-03-01T12:00:00+00:00 created_by=ana " +
		"earliest=06:00:00 first_date=2026-03-02 join_key=8 last_date=2026-03-03 latest=12:00:00 " +
		"location_id=location member_id=third party_size=2 service_id=service status=WAITING " +
		"updated_at=2026-03-01T12:00:00+00:00}"},
	{waitlistdb.InsertRound, args{waitlist.Round{
		ID: id[tenant.RoundID]("fifth"), Session: id[tenant.SessionID]("seventh"), Freed: 2, Opened: now,
	}}, "waitlist_rounds +fifth {freed=2 opened_at=2026-03-01T12:00:00+00:00 session_id=seventh}"},
	{waitlistdb.InsertOffer, args{waitlist.Offer{
		ID: id[tenant.OfferID]("fifth"), Round: id[tenant.RoundID]("round"), Session: id[tenant.SessionID]("session"),
		Entry: id[tenant.EntryID]("second"), Member: id[tenant.MemberID]("receiver"), Seats: 2, Status: waitlist.Live,
		Try: 3, CreatedAt: now, ExpiresAt: start, ClaimHash: sha("x"), CodeHash: sha("key"),
	}}, "waitlist_offers +fifth {claim_hash=\\x#x code_hash=\\x#key " +
		"created_at=2026-03-01T12:00:00+00:00 entry_id=second expires_at=2026-03-02T08:00:00+00:00 " +
		"member_id=receiver round_id=round seats=2 session_id=session status=LIVE try=3}"},
	{waitlistdb.UpdateEntry, args{waitlist.Entry{
		ID: id[tenant.EntryID]("waiting"), Status: waitlist.Offered, Tries: 1, Key: 1,
	}, now}, "waitlist_entries waiting {status=OFFERED tries=1}"},
	{waitlistdb.UpdateOffer, args{waitlist.Offer{
		ID: id[tenant.OfferID]("offer"), Status: waitlist.Declined, ClosedAt: &start, ExpiresAt: start,
	}}, "waitlist_offers offer {closed_at=2026-03-02T08:00:00+00:00 status=DECLINED}"},
	{waitlistdb.UpdateRound, args{waitlist.Round{ID: id[tenant.RoundID]("round"), Freed: 2, Closed: &start}}, `
waitlist_rounds round {closed_at=2026-03-02T08:00:00+00:00 freed=2}`},
	{waitlistdb.ExtendOffer, args{"offer", start.Add(time.Hour)}, `
waitlist_offers offer {expires_at=2026-03-02T09:00:00+00:00}`},
	{waitlistdb.ExtendOffer, args{"third", start.Add(time.Hour)}, ""},
	{waitlistdb.RemovePlaces, args{"other"}, `
sessions other {waiting=0}
sessions session {waiting=2}
sessions seventh {waiting=0}
waitlist_places -other other
waitlist_places -other session
waitlist_places -other seventh
waitlist_queues location service 2026-03-02 {waiting=3}
waitlist_queues location service 2026-03-03 {waiting=1}`},
	{waitlistdb.RemovePlacesIn, args{"other waiting", "session"}, `
sessions session {waiting=1}
waitlist_places -other session
waitlist_places -waiting session
waitlist_queues location service 2026-03-02 {waiting=3}`},
	{waitlistdb.AddPlaces, args{
		waitlist.Entry{ID: id[tenant.EntryID]("third"), Member: id[tenant.MemberID]("other"), Key: 7}, "session",
		[]waitlist.Queue{queue},
	}, "sessions session {waiting=4}\n" +
		"waitlist_places +third session {entry_id=third join_key=7 local_date=2026-03-02 " +
		"location_id=location member_id=other service_id=service session_id=session}\n" +
		"waitlist_queues location service 2026-03-02 {last_key=7 waiting=5}"},
	{waitlistdb.AddPlaces, args{
		waitlist.Entry{ID: id[tenant.EntryID]("fourth"), Member: id[tenant.MemberID]("other"), Key: 7}, "",
		[]waitlist.Queue{queue},
	}, "waitlist_places +fourth location service 2026-03-02 {entry_id=fourth join_key=7 " +
		"local_date=2026-03-02 location_id=location member_id=other service_id=service}\n" +
		"waitlist_queues location service 2026-03-02 {last_key=7 waiting=5}"},
	{waitlistdb.MovePlaces, args{"session other", []waitlist.Queue{
		queue, {Location: queue.Location, Service: id[tenant.ServiceID]("other"), Date: day},
	}}, ""},
	{moveOne, args{"session"}, `
sessions other {local_date=2026-03-04}
sessions session {local_date=2026-03-04}
waitlist_places other session {local_date=2026-03-04}
waitlist_places second session {local_date=2026-03-04}
waitlist_places waiting session {local_date=2026-03-04}
waitlist_queues location service 2026-03-02 {waiting=3}
waitlist_queues location service 2026-03-04 {last_key=2}`},
	{moveOne, args{"other"}, `
sessions other {local_date=2026-03-04}
sessions session {local_date=2026-03-04}
waitlist_places other other {local_date=2026-03-04}
waitlist_queues location service 2026-03-04 {last_key=2}`},
	{waitlistdb.PutRules, args{waitlistdb.RulesVersion{Layer: waitlist.Layer{
		Level: catalog.TenantLevel, Scope: uuid("tenant"), Version: 7,
	}, Actor: "ana", At: now}}, `
policies TENANT tenant {rules_version=7}
tenants  {snapshot_version=2}
waitlist_rules_versions +7 {actor=ana created_at=2026-03-01T12:00:00+00:00 level=TENANT scope_id=tenant version=7}`},
	{waitlistdb.PutRules, args{waitlistdb.RulesVersion{Layer: waitlist.Layer{
		Level: catalog.LocationLevel, Scope: uuid("location"), Version: 7, Settings: waitlist.Settings{Enabled: new(true)},
	}, Actor: "ana", At: now}}, `
policies LOCATION location {rules_version=7 waitlist_enabled=true}
tenants  {snapshot_version=2}
waitlist_rules_versions +7 {actor=ana created_at=2026-03-01T12:00:00+00:00 enabled=true level=LOCATION ` +
		"scope_id=location version=7}"},
	{waitlistdb.SettleLevel, args{
		waitlistdb.EditedLevel{Level: catalog.TenantLevel, Scope: uuid("tenant"), Rules: 3, Policy: 1},
	}, "policies TENANT tenant {rules_due=false}"},
	{waitlistdb.SettleLevel, args{
		waitlistdb.EditedLevel{Level: catalog.TenantLevel, Scope: uuid("tenant"), Rules: 2, Policy: 1},
	}, ""},
	{waitlistdb.SettleLevel, args{
		waitlistdb.EditedLevel{Level: catalog.TenantLevel, Scope: uuid("tenant"), Rules: 3, Policy: 2},
	}, ""},
	{waitlistdb.SettleLevel, args{
		waitlistdb.EditedLevel{Level: catalog.LocationLevel, Scope: uuid("tenant"), Rules: 3, Policy: 1},
	}, ""},
	{waitlistdb.SettleLevel, args{
		waitlistdb.EditedLevel{Level: catalog.LocationLevel, Scope: uuid("other"), Rules: 5, Policy: 1},
	}, ""},
	{waitlistdb.RemovePlacesIn, args{"other", "session"}, `
sessions session {waiting=2}
waitlist_places -other session`},
	{waitlistdb.SetOrder, args{[]waitlist.Entry{{ID: id[tenant.EntryID]("other"), Key: -1}}, now}, `
waitlist_entries other {join_key=-1}
waitlist_places other other {join_key=-1}
waitlist_places other session {join_key=-1}
waitlist_places other seventh {join_key=-1}`},
}

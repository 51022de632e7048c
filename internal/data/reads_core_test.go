package data

import (
	"time"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/tenant"
)

var coreReads = []read{
	{coredb.ListAudit, args{coredb.AuditQuery{Limit: 9}}, "other notice audit third"},
	{coredb.ListAudit, args{coredb.AuditQuery{Limit: 1}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Actor: uuid("member"), Limit: 9}}, "notice audit"},
	{coredb.ListAudit, args{coredb.AuditQuery{Actor: uuid("account"), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Actor: uuid("booking"), Limit: 9}}, ""},
	{coredb.ListAudit, args{coredb.AuditQuery{ActorKind: coredb.ByMember, Limit: 9}}, "notice audit"},
	{coredb.ListAudit, args{coredb.AuditQuery{ActorKind: coredb.ByServiceAccount, Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{ActorKind: coredb.BySystem, Limit: 9}}, "third"},
	{coredb.ListAudit, args{coredb.AuditQuery{Action: "CANCEL", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{TargetKind: "session", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{TargetID: "x", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Batch: id[tenant.BatchID]("batch"), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{From: now.Add(time.Hour), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Until: now.Add(time.Hour), Limit: 9}}, "notice audit third"},
	{coredb.ListAudit, args{coredb.AuditQuery{
		AfterAt: now.Add(time.Hour), AfterID: id[tenant.AuditID]("other"), Limit: 9,
	}}, "notice audit third"},
	{coredb.FindSnapshotVersion, nil, "1"},
	{
		coredb.FindSnapshot, nil,
		"{Version=1 Locations=fifth={Name=wharf TimeZone=Europe/Vienna Channels=ONLINE PHONE WALK_IN} " +
			"location={Name=Pier TimeZone=Europe/Vienna Channels=ONLINE PHONE WALK_IN} other={Name=dock TimeZone=Europe/Paris " +
			"Point={Latitude=1.5 Longitude=2.5} Channels=ONLINE PHONE WALK_IN} Services=other={MinParty=1 " +
			"MaxParty=1 Delivery=IN_PERSON} service={MinParty=1 MaxParty=1 Delivery=IN_PERSON} " +
			"Policies=location={} other={} service={} tenant={} Plans=other=other plan=plan third=third}",
	},
	{coredb.HasOldKeys, args{now.Add(-time.Hour)}, "true"},
	{coredb.HasOldKeys, args{now.Add(-time.Hour - time.Second)}, "false"},
	{
		coredb.ListActorNames,
		args{[]string{"system", "", uuid("member").String(), "sa:" + uuid("account").String(), "sa:1", uuid("x").String()}},
		"{Actor=member Name=Ana} {Actor=sa:account Name=Kiosk}",
	},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "booking", "", now}, "true"},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "booking", "", now.Add(time.Second)}, "false"},
	{coredb.IsAudited, args{"system", "BOOK", "booking", "", now}, "false"},
	{coredb.IsAudited, args{uuid("member").String(), "CANCEL", "booking", "", now}, "false"},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "session", "", now}, "false"},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "booking", "x", now}, "false"},
	{coredb.CountMembers, args{9}, "4"},
	{coredb.CountMembers, args{2}, "2"},
	{coredb.CountSessions, args{99}, "13"},
	{coredb.CountSessions, args{2}, "2"},
	{coredb.FindAnswer, args{coredb.Claim{
		Principal: "ana", Key: "key", Since: now.Add(-time.Second),
	}}, "{Hash=#request Answer=1}"},
	{coredb.FindAnswer, args{coredb.Claim{Principal: "ana", Key: "key", Since: now}}, "none"},
	{coredb.FindAnswer, args{coredb.Claim{Principal: "bo", Key: "key"}}, "none"},
	{coredb.FindAnswer, args{coredb.Claim{Principal: "ana", Key: "x"}}, "none"},
	{coredb.CountKeys, args{"ana", now.Add(-time.Second), 9}, "1"},
	{coredb.CountKeys, args{"ana", now.Add(-time.Second), 0}, "0"},
	{coredb.CountKeys, args{"ana", now, 9}, "0"},
	{coredb.CountKeys, args{"bo", now.Add(-time.Second), 9}, "0"},
}

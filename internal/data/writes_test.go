package data

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// writes has calls of functions that write, and the rows that they add (+), delete (-) and change, with the new values,
// one in a line. Arguments are as in reads.
//
//nolint:dupword // names of rows
var writes = []struct {
	write any
	with  args
	want  string
}{
	{accountdb.DeletePendingContact, args{"member", member.ByPhone}, "pending_contacts -member PHONE"},
	{accountdb.DeletePendingContact, args{"other", member.ByPhone}, ""},
	{accountdb.DeleteOldCodes, args{now}, ""},
	{accountdb.DeleteOldCodes, args{now.Add(time.Microsecond)}, `
contact_codes -code
contact_codes -fourth
contact_codes -other`},
	{accountdb.TrimDevices, args{"member", 1}, "devices -device"},
	{accountdb.TrimDevices, args{"member", 2}, ""},
	{accountdb.TrimDevices, args{"third", 1}, `
devices -fourth
devices -third`},
	{accountdb.TrimDevices, args{"third", 2}, "devices -fourth"},
	{accountdb.DeleteStaleDevices, args{now}, `
devices -fourth
devices -notice
devices -third`},
	{accountdb.DeleteDevices, args{"device third"}, `
devices -device
devices -third`},
	{accountdb.DeleteDevices, args{"other"}, "devices -other"},
	{accountdb.DeleteDevices, args{""}, ""},
	{
		accountdb.SealDevice, args{"device", accountdb.SealedToken{Sealed: sha("s"), Hash: sha("h")}},
		`devices device {sealed=\x#s token=null token_hash=\x#h}`,
	},
	{accountdb.SealDevice, args{"device", accountdb.SealedToken{Sealed: sha("s"), Hash: sha("other")}}, `
devices -device`},
	{
		accountdb.SealDevice, args{"device", accountdb.SealedToken{Sealed: sha("s"), Hash: sha("abroad")}},
		`devices device {sealed=\x#s token=null token_hash=\x#abroad}`,
	},
	{accountdb.BindIssuer, args{"member", "https://new.example", []string{""}}, `
members member {issuer=https://new.example}`},
	{accountdb.BindIssuer, args{"other", "https://new.example", []string{""}}, ""},
	{accountdb.InsertMembers, args{member.Member{
		ID: id[tenant.MemberID]("second"), Name: "Di", Status: member.Active, Roles: []string{"zoo", "coach"},
		CreatedAt: start,
	}}, "member_roles +second coach {created_at=2026-03-02T08:00:00+00:00 member_id=second role=coach}\n" +
		"member_roles +second zoo {created_at=2026-03-02T08:00:00+00:00 member_id=second role=zoo}\n" +
		"members +second {created_at=2026-03-02T08:00:00+00:00 name=Di name_key=di status=ACTIVE " +
		"updated_at=2026-03-02T08:00:00+00:00 version=1}"},
	{accountdb.InsertCode, args{
		"member", member.PendingContact{
			Contact: member.Contact{Kind: member.ByPhone}, Code: id[tenant.CodeID]("second"),
		}, sha("x"), start,
	}, "contact_codes +second {address_hash=\\x#x created_at=2026-03-02T08:00:00+00:00 kind=PHONE " +
		"member_id=member}"},
	{accountdb.InsertAccount, args{grant.ServiceAccount{
		ID: id[tenant.ServiceAccountID]("second"), Name: "Gate", Roles: []string{"zoo", "coach"}, CreatedAt: start,
	}}, `
service_account_roles +second coach {account_id=second role=coach}
service_account_roles +second zoo {account_id=second role=zoo}
service_accounts +second {created_at=2026-03-02T08:00:00+00:00 name=Gate name_key=gate}`},
	{accountdb.InsertKey, args{
		"account", grant.Key{ID: id[tenant.KeyID]("second"), CreatedAt: now}, [32]byte(sha("x")),
	}, "service_account_keys +second {account_id=account created_at=2026-03-01T12:00:00+00:00 " +
		"hash=\\x#x}"},
	{
		accountdb.InsertMemberRole, args{"member", "zoo", now},
		"member_roles +member zoo {created_at=2026-03-01T12:00:00+00:00 member_id=member role=zoo}",
	},
	{accountdb.InsertMemberRole, args{"member", "coach", start}, ""},
	{accountdb.DeleteRole, args{"spare"}, "roles -spare"},
	{accountdb.DeleteRole, args{"owner"}, ""}, // it is built in
	{accountdb.DeleteMemberRole, args{"member", "coach"}, "member_roles -member coach"},
	{accountdb.DeleteTransfer, args{"transfer"}, "ownership_transfers -transfer"},
	{accountdb.DeleteTransfer, args{"second"}, ""},
	{accountdb.PutTransfer, args{grant.Transfer{
		ID: id[tenant.TransferID]("second"), From: grant.Party{Member: id[tenant.MemberID]("member")},
		To: grant.Party{Member: id[tenant.MemberID]("third")}, CreatedAt: now, ExpiresAt: start,
	}}, "ownership_transfers +second {created_at=2026-03-01T12:00:00+00:00 " +
		"expires_at=2026-03-02T08:00:00+00:00 from_member=member to_member=third}\n" +
		"ownership_transfers -transfer"},
	{accountdb.PutTransfer, args{grant.Transfer{
		ID: id[tenant.TransferID]("second"), From: grant.Party{Member: id[tenant.MemberID]("third")},
		To: grant.Party{Member: id[tenant.MemberID]("member")}, CreatedAt: now, ExpiresAt: start,
	}}, "ownership_transfers +second {created_at=2026-03-01T12:00:00+00:00 " +
		"expires_at=2026-03-02T08:00:00+00:00 from_member=third to_member=member}\n" +
		"ownership_transfers -third"},
	{accountdb.SaveDevice, args{
		"member", member.Device{ID: id[tenant.DeviceID]("seventh"), Kind: member.Web, CreatedAt: now, SeenAt: now},
		accountdb.SealedToken{Sealed: sha("s"), Hash: sha("h"), Former: [][]byte{sha("token")}}, new(member.Device),
	}, `devices device {kind=WEB sealed=\x#s token=null token_hash=\x#h}`},
	{accountdb.SaveDevice, args{
		"member", member.Device{ID: id[tenant.DeviceID]("seventh"), Kind: member.Web, CreatedAt: now, SeenAt: now},
		accountdb.SealedToken{Sealed: sha("s"), Hash: sha("other"), Former: [][]byte{sha("token")}}, new(member.Device),
	}, "devices other {kind=WEB seen_at=2026-03-01T12:00:00+00:00}"},
	{accountdb.UpdateMember, args{member.Member{
		ID: id[tenant.MemberID]("member"), Name: "Anna", Status: member.Active, Version: 2, UpdatedAt: start,
	}}, "members member {email= email_key= name=Anna name_key=anna subject= " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{accountdb.PutPendingContact, args{"member", member.PendingContact{
		Contact: member.Contact{Kind: member.ByEmail, Address: "x@example.com"},
		Code:    id[tenant.CodeID]("fourth"), CodeHash: sha("x"), ExpiresAt: start,
	}}, "pending_contacts member EMAIL {address=x@example.com code_hash=\\x#x code_id=fourth " +
		"expires_at=2026-03-02T08:00:00+00:00}"},
	{
		accountdb.InsertRole, args{grant.Role{Name: "guide", Title: "Guide", CreatedAt: now}},
		"roles +guide {created_at=2026-03-01T12:00:00+00:00 name=guide title=Guide " +
			"updated_at=0001-01-01T00:00:00+00:00}",
	},
	{
		accountdb.UpdateRole, args{grant.Role{Name: "coach", Title: "Trainer", Version: 2, UpdatedAt: start}},
		"roles coach {title=Trainer updated_at=2026-03-02T08:00:00+00:00 version=2}",
	},
	{accountdb.EndKeys, args{"account", now}, `
service_account_keys key {expires_at=2026-03-01T12:00:00+00:00}`},
	{accountdb.RevokeAccount, args{"account", start}, `
service_account_keys key {expires_at=2026-03-02T08:00:00+00:00}
service_account_roles -account coach
service_accounts account {revoked_at=2026-03-02T08:00:00+00:00}`},
	{accountdb.MarkKeyUsed, args{"key", now}, `
service_account_keys key {used_at=2026-03-01T12:00:00+00:00}`},

	{catalogdb.InsertLocation, args{catalog.Location{
		ID: id[tenant.LocationID]("second"), Name: "Quay", TimeZone: "Europe/Rome", Active: true, CreatedAt: now,
		Channels: []catalog.Channel{catalog.Phone},
	}}, "locations +second {active=true channels=[\"PHONE\"] created_at=2026-03-01T12:00:00+00:00 " +
		"name=Quay time_zone=Europe/Rome updated_at=0001-01-01T00:00:00+00:00}\n" +
		"tenants  {house_version=2}"},
	{catalogdb.InsertService, args{catalog.Service{
		ID: id[tenant.ServiceID]("second"), Name: "Sailing", Duration: time.Hour, MinParty: 1, MaxParty: 2,
		Delivery: catalog.Feed, Active: true, CreatedAt: now,
	}}, "services +second {active=true created_at=2026-03-01T12:00:00+00:00 delivery=FEED " +
		"duration_seconds=3600 max_party=2 min_party=1 name=Sailing " +
		"updated_at=0001-01-01T00:00:00+00:00}\n" +
		"tenants  {house_version=2}"},
	{catalogdb.InsertResource, args{catalog.Resource{
		ID: id[tenant.ResourceID]("second"), Location: id[tenant.LocationID]("location"), Name: "Court 3", Active: true,
		CreatedAt: now,
	}}, "resources +second {active=true created_at=2026-03-01T12:00:00+00:00 location_id=location " +
		"name=Court 3 updated_at=0001-01-01T00:00:00+00:00}"},
	{catalogdb.InsertPlan, args{credit.Plan{
		ID: id[tenant.PlanID]("second"), Name: "Twelve", Kind: credit.Credits, Credits: 12, Active: true, CreatedAt: now,
	}}, "plans +second {active=true created_at=2026-03-01T12:00:00+00:00 credits=12 kind=CREDITS " +
		"name=Twelve updated_at=0001-01-01T00:00:00+00:00}\n" +
		"tenants  {house_version=2}"},
	{catalogdb.InsertItem, args{booking.Item{
		ID: id[tenant.ItemID]("second"), Location: id[tenant.LocationID]("location"), Name: "Paddle", Stock: 5, Active: true,
		CreatedAt: now,
	}}, "items +second {active=true created_at=2026-03-01T12:00:00+00:00 location_id=location " +
		"name=Paddle stock=5 updated_at=0001-01-01T00:00:00+00:00}"},
	{catalogdb.UpdateLocation, args{catalog.Location{
		ID: id[tenant.LocationID]("location"), Name: "Quay", TimeZone: "Europe/Rome", Version: 2, UpdatedAt: start,
		Channels: []catalog.Channel{catalog.Phone},
	}}, "locations location {active=false channels=[\"PHONE\"] name=Quay time_zone=Europe/Rome " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2}\n" +
		"tenants  {house_version=2}"},
	{catalogdb.UpdateService, args{catalog.Service{
		ID: id[tenant.ServiceID]("service"), Name: "Sailing", Duration: time.Hour, MinParty: 1, MaxParty: 2,
		Delivery: catalog.InPerson, Version: 2, UpdatedAt: start,
	}}, `
services service {active=false max_party=2 name=Sailing updated_at=2026-03-02T08:00:00+00:00 version=2}
tenants  {house_version=2}`},
	{catalogdb.UpdateResource, args{catalog.Resource{
		ID: id[tenant.ResourceID]("resource"), Location: id[tenant.LocationID]("location"), Name: "Court 2", Version: 2,
		UpdatedAt: start,
	}}, "resources resource {active=false name=Court 2 updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{catalogdb.UpdatePlan, args{credit.Plan{
		ID: id[tenant.PlanID]("plan"), Name: "Twelve", Kind: credit.Credits, Credits: 12, Version: 2, UpdatedAt: start,
	}}, "plans plan {active=false credits=12 daily_limit=null name=Twelve " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2 weekly_limit=null}\n" +
		"tenants  {house_version=2}"},
	{catalogdb.UpdateItem, args{booking.Item{
		ID: id[tenant.ItemID]("item"), Name: "Paddle", Stock: 5, Version: 2, UpdatedAt: start,
	}}, "items item {active=false name=Paddle stock=5 updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{catalogdb.PutPolicy, args{catalog.Policy{
		Level: catalog.TenantLevel, Scope: uuid("tenant"), HoldTTL: new(time.Minute), Version: 2, UpdatedAt: start,
	}}, `
policies TENANT tenant {hold_ttl_seconds=60 updated_at=2026-03-02T08:00:00+00:00 version=2}
tenants  {house_version=2}`},
	{catalogdb.PutBenefitProvider, args{booking.BenefitProvider{
		Code: "CLUB", Name: "Club 2", Pattern: "[0-9]*", Verification: booking.VerifyByList, Version: 2, UpdatedAt: start,
	}}, "benefit_providers CLUB {active=false name=Club 2 number_pattern=[0-9]* " +
		"updated_at=2026-03-02T08:00:00+00:00 verification=LIST version=2}"},
	{
		catalogdb.AddBenefitNumbers, args{"CLUB", []string{"1", "3"}},
		"benefit_numbers +CLUB 3 {number=3 provider_code=CLUB}",
	},
	{catalogdb.RemoveBenefitNumbers, args{"CLUB", []string{"1", "3"}}, "benefit_numbers -CLUB 1"},
	{catalogdb.KeepBenefitNumbers, args{"CLUB", []string{"1", "3"}}, "benefit_numbers -CLUB 2"},
	{catalogdb.PutBenefitMembership, args{booking.BenefitMembership{
		Provider: "CLUB", Member: id[tenant.MemberID]("member"), Key: "1", Number: "1-", CreatedAt: now,
	}}, ""},
	{catalogdb.PutBenefitMembership, args{booking.BenefitMembership{
		Provider: "CLUB", Member: id[tenant.MemberID]("member"), Key: "7", Number: "7", CreatedAt: now,
	}}, "benefit_memberships CLUB member {entered=7 number=7}"},
	{catalogdb.DeleteBenefitMembership, args{"CLUB", "member"}, "benefit_memberships -CLUB member"},

	{bookingdb.InsertDisplayLink, args{checkin.DisplayLink{
		ID: id[tenant.DisplayLinkID]("third"), Session: id[tenant.SessionID]("session"), CreatedBy: "ana", CreatedAt: now,
	}}, "display_links +third {created_at=2026-03-01T12:00:00+00:00 created_by=ana session_id=session}"},
	{bookingdb.UpdateDisplayLink, args{checkin.DisplayLink{
		ID: id[tenant.DisplayLinkID]("other"), Screen: id[tenant.ScreenID]("screen"), OpenedAt: now,
	}}, "display_links other {opened_at=2026-03-01T12:00:00+00:00 screen=screen}"},
	{bookingdb.DeleteOldDisplayLinks, args{start.Add(time.Hour)}, ""},
	{bookingdb.DeleteOldDisplayLinks, args{start.Add(time.Hour + time.Microsecond)}, `
display_links -display
display_links -other`},
	{bookingdb.InsertBooking, args{booking.Booking{
		ID: id[tenant.BookingID]("account"), Session: id[tenant.SessionID]("seventh"),
		Member: id[tenant.MemberID]("member"), Party: 2, Status: booking.Confirmed, Channel: catalog.Online, StartsAt: start,
		EndsAt: start.Add(time.Hour), CreatedBy: "ana", CreatedAt: now, Payment: payment.Payment{Status: payment.Unpaid},
	}}, "bookings +account {channel=ONLINE created_at=2026-03-01T12:00:00+00:00 created_by=ana " +
		"ends_at=2026-03-02T09:00:00+00:00 member_id=member party_size=2 payment_status=UNPAID " +
		"session_id=seventh starts_at=2026-03-02T08:00:00+00:00 status=CONFIRMED " +
		"updated_at=2026-03-01T12:00:00+00:00}"},
	{bookingdb.InsertSubscription, args{credit.Subscription{
		ID: id[tenant.SubscriptionID]("second"), Member: id[tenant.MemberID]("third"),
		Plan: credit.Plan{ID: id[tenant.PlanID]("plan")}, Status: credit.Active, StartsAt: now, CreatedAt: start,
	}}, "subscriptions +second {created_at=2026-03-02T08:00:00+00:00 member_id=third plan_id=plan " +
		"starts_at=2026-03-01T12:00:00+00:00 status=ACTIVE updated_at=0001-01-01T00:00:00+00:00}"},
	{bookingdb.UpdateBooking, args{booking.Booking{
		ID: id[tenant.BookingID]("booking"), Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member"),
		Party: 2, Status: booking.Confirmed, Channel: catalog.Online, StartsAt: start, EndsAt: start.Add(time.Hour),
		Payment: payment.Payment{Status: payment.Unpaid},
	}, now}, "bookings booking {exclusive=false}"},
	{bookingdb.UpdateSubscription, args{credit.Subscription{
		ID: id[tenant.SubscriptionID]("subscription"), Status: credit.Paused, Balance: 3, Lines: 4, StartsAt: now, Version: 2,
	}, now}, "subscriptions subscription {balance=3 lines=4 status=PAUSED version=2}"},
	{bookingdb.MarkNoShows, args{"booking fourth", now}, `
bookings booking {auto_no_show_at=2026-03-01T12:00:00+00:00 status=NO_SHOW}
bookings fourth {auto_no_show_at=2026-03-01T12:00:00+00:00}`},
	{bookingdb.SetLines, args{"booking", "", booking.ItemCancelled}, `
booking_items other {status=CANCELLED}
booking_items unit {status=CANCELLED}`},
	{bookingdb.SetLines, args{"booking", "line", booking.ItemPending}, `
booking_items other {status=PENDING}
booking_items unit {status=PENDING}`},
	{bookingdb.SetLines, args{"booking", "booking", booking.ItemPending}, ""},
	{bookingdb.MoveBookings, args{
		[]session.Session{{ID: id[tenant.SessionID]("session"), StartsAt: now, EndsAt: start}}, "other", now,
	}, `
bookings booking {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00}
bookings other {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00}
bookings seventh {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00}
bookings sixth {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00}`},
	{bookingdb.MoveSeats, args{
		"session", bookingdb.Seats{Taken: 3, Holds: 1},
	}, "sessions session {holds=1 seats_taken=3}"},
	{bookingdb.MoveUsage, args{[]bookingdb.Usage{
		{Subscription: id[tenant.SubscriptionID]("subscription"), On: day, Used: 2},
		{Subscription: id[tenant.SubscriptionID]("subscription"), Week: true, On: day, Used: -1},
	}}, `
usage subscription DAY 2026-03-02 {used=3}
usage subscription WEEK 2026-03-02 {used=2}`},
	{bookingdb.MoveUsage, args{[]bookingdb.Usage{
		{Subscription: id[tenant.SubscriptionID]("subscription"), Week: true, On: day, Used: -1},
		{Subscription: id[tenant.SubscriptionID]("third"), On: day, Used: -1},
	}}, `
usage subscription WEEK 2026-03-02 {used=2}
usage third DAY 2026-03-02 {used=3}`},
	{bookingdb.CountBooking, args{"third", day, 1}, `
usage third DAY 2026-03-02 {used=5}
usage third WEEK 2026-03-02 {used=5}`},
	{bookingdb.CountUsage, args{"other", day}, `
bookings other {counted=true}
usage +other DAY 2026-03-02 {span=DAY starts_on=2026-03-02 subscription_id=other used=1}
usage +other WEEK 2026-03-02 {span=WEEK starts_on=2026-03-02 subscription_id=other used=1}`},
	{bookingdb.InsertItemReservation, args{
		uuid("fifth"), "third", booking.ItemLine{ID: id[tenant.LineID]("fourth"), Status: booking.ItemConfirmed},
		booking.ItemReservation{
			Item: id[tenant.ItemID]("other"), Number: 3, Span: civil.Span{Start: start, End: start.Add(time.Hour)},
		},
	}, "booking_items +fifth {booking_id=third item_id=other line_id=fourth number=3 " +
		"out_from=2026-03-02T08:00:00+00:00 out_until=2026-03-02T09:00:00+00:00 status=CONFIRMED}"},
	{bookingdb.CountUsage, args{"plan", day}, `
bookings fifth {counted=true}
usage -subscription DAY 2026-03-03
usage subscription WEEK 2026-03-02 {used=1}`},
	{bookingdb.AppendLedger, args{[]credit.Entry{{
		ID: id[tenant.CreditEntryID]("third"), Subscription: id[tenant.SubscriptionID]("third"), Line: 1, Kind: credit.Grant,
		Amount: 1, Balance: 1, At: now,
	}}}, "credit_entries +third {amount=1 balance=1 created_at=2026-03-01T12:00:00+00:00 kind=GRANT line=1" +
		" subscription_id=third}"},
	{bookingdb.AppendPayment, args{payment.Entry{
		ID: id[tenant.PaymentEntryID]("third"), Booking: id[tenant.BookingID]("third"), Line: 1,
		Facts: payment.Facts{Kind: payment.Authorize, Amount: credit.Money{Currency: "EUR", Units: 1}}, At: now,
	}}, "payment_entries +third {amount_currency=EUR amount_units=1 booking_id=third " +
		"created_at=2026-03-01T12:00:00+00:00 kind=AUTHORIZED line=1}"},

	{coredb.RenewSnapshot, nil, "tenants  {house_version=2}"},
	{coredb.DeleteOldKeys, args{now, 1}, "idempotency_keys -ana Book old"},
	{coredb.DeleteOldKeys, args{now, 9}, `
idempotency_keys -ana Book key
idempotency_keys -ana Book old`},
	{coredb.DeleteOldKeys, args{now.Add(-time.Second), 9}, "idempotency_keys -ana Book old"},
	{coredb.GiveKeyBack, args{
		coredb.Claim{Principal: "ana", Procedure: "Book", Key: "key"},
	}, "idempotency_keys -ana Book key"},
	{coredb.GiveKeyBack, args{coredb.Claim{Principal: "bo", Procedure: "Book", Key: "key"}}, ""},
	{coredb.GiveKeyBack, args{coredb.Claim{Principal: "ana", Procedure: "Book", Key: "x"}}, ""},
	{coredb.AppendAudit, args{coredb.AuditEntry{
		ID: id[tenant.AuditID]("second"), Actor: uuid("member").String(), Subject: "ana", Action: "BOOK",
		TargetKind: "booking", TargetID: "x", Address: "::1", Client: "curl", At: start,
	}}, "audit_entries +second {action=BOOK actor=member actor_name=Ana actor_subject=ana address=::1 " +
		"client=curl occurred_at=2026-03-02T08:00:00+00:00 target_id=x target_kind=booking}"},
	{coredb.AppendAudit, args{coredb.AuditEntry{
		ID: id[tenant.AuditID]("second"), Actor: "sa:" + uuid("account").String(), Subject: "s", Action: "BOOK",
		TargetKind: "booking", TargetID: "x", Address: "::1", Client: "curl", At: start,
	}}, "audit_entries +second {action=BOOK actor=sa:account actor_name=Kiosk actor_subject=s " +
		"address=::1 client=curl occurred_at=2026-03-02T08:00:00+00:00 target_id=x target_kind=booking}"},
	{coredb.AppendAudit, args{coredb.AuditEntry{
		ID: id[tenant.AuditID]("second"), Actor: "system", Subject: "s", Action: "BOOK", TargetKind: "booking",
		TargetID: "x", Address: "::1", Client: "curl", At: start,
	}}, "audit_entries +second {action=BOOK actor=system occurred_at=2026-03-02T08:00:00+00:00 " +
		"target_id=x target_kind=booking}"},
	{coredb.GiveKeyBack, args{coredb.Claim{Principal: "ana", Procedure: "Join", Key: "key"}}, ""},
	{coredb.AnswerKey, args{
		coredb.Claim{Principal: "ana", Procedure: "Book", Key: "key", Hash: []byte{1}, At: now}, "{}",
	}, "idempotency_keys ana Book key {answer={}}"},

	{messagedb.InsertDeliveries, args{[]messagedb.Delivery{{
		ID: id[tenant.DeliveryID]("seventh"), Recipient: uuid("member"), Status: notify.Sent,
	}}}, "deliveries +seventh {created_at=0001-01-01T00:00:00+00:00 recipient=member status=SENT " +
		"updated_at=0001-01-01T00:00:00+00:00}"},
	{messagedb.UpdateDeliveries, args{[]messagedb.DeliveryOutcome{
		{ID: id[tenant.DeliveryID]("third"), Status: notify.Failed, ErrorCode: "1", ProviderID: "p", Segments: 2},
	}, now}, "deliveries third {error_code=1 provider_id=p segments=2}"},
	{
		messagedb.PutPhoneTenants, args{[]string{"+1"}},
		"shared_contacts +\\xc59dc4e44ff99288156d4dff2168f6ac7ddee6b1fc7ccc0754656ffaa6d351ea " +
			"{number_hash=\\xc59dc4e44ff99288156d4dff2168f6ac7ddee6b1fc7ccc0754656ffaa6d351ea}",
	},
	{messagedb.AddSendingHours, args{[]notify.SendingHour{
		{SendingKey: notify.SendingKey{Channel: notify.SMS, Country: "AT", Hour: now}, Sent: 2, Waiting: 3, Alarm: 50},
		{SendingKey: notify.SendingKey{Channel: notify.SMS, Country: "AT", Hour: start}, Waiting: 1},
	}}, `
sending_counts +SMS AT 2026-03-02 08:00:00+00 {channel=SMS country=AT hour=2026-03-02T08:00:00+00:00 waiting=1}
sending_counts SMS AT 2026-03-01 12:00:00+00 {sent=3 waiting=3}`},
	{messagedb.AddSendingHours, args{[]notify.SendingHour(nil)}, ""},
	{messagedb.PutStandings, args{[]notify.Standing(nil)}, ""},
	{messagedb.UpdateDeliveries, args{[]messagedb.DeliveryOutcome(nil), now}, ""},
	{messagedb.ReturnSending, args{map[notify.SendingKey]int{
		{Channel: notify.SMS, Country: "DE", Hour: now.Add(time.Hour)}: 2,
		{Channel: notify.SMS, Country: "AT", Hour: now}:                7,
		{Channel: notify.SMS, Country: "AT", Hour: start}:              1,
	}}, `
sending_counts SMS AT 2026-03-01 12:00:00+00 {sent=0}
sending_counts SMS DE 2026-03-01 13:00:00+00 {sent=3}`},
	{messagedb.PutStandings, args{[]notify.Standing{
		{Channel: notify.SMS, Level: 2, Since: start, ReviewedAt: start},
		{Channel: notify.Email, Level: 0, Since: start, ReviewedAt: start},
	}}, `
sending_standings +EMAIL {channel=EMAIL reviewed_at=2026-03-02T08:00:00+00:00 since=2026-03-02T08:00:00+00:00}
sending_standings SMS {level=2 reviewed_at=2026-03-02T08:00:00+00:00 since=2026-03-02T08:00:00+00:00}`},
	{messagedb.DeleteOldSendingHours, args{now}, `
sending_counts -EMAIL  2026-03-01 11:00:00+00
sending_counts -SMS AT 2026-03-01 11:00:00+00`},
	{messagedb.ReportDelivery, args{messagedb.Delivery{
		ID: id[tenant.DeliveryID]("third"), Status: notify.Delivered, Segments: 2,
	}, start}, "deliveries third {segments=2 status=DELIVERED updated_at=2026-03-02T08:00:00+00:00}"},
	{
		messagedb.PutSenders, args{messagedb.Sealed{Text: []byte("new"), Version: 2, UpdatedAt: start}},
		"notification_senders  {domain_check_at=null sealed=\\x6e6577 " +
			"updated_at=2026-03-02T08:00:00+00:00 version=2}",
	},
	{messagedb.PutNotificationSettings, args{notify.Settings{
		PerDay: map[notify.Channel]int{notify.SMS: 2, notify.Push: 3, notify.Email: 4}, Version: 2, UpdatedAt: start,
	}}, "notification_settings  {email_in_quiet=false email_per_day=4 push_per_day=3 " +
		"quiet_end=00:00:00 quiet_start=00:00:00 sms_per_day=2 updated_at=2026-03-02T08:00:00+00:00 " +
		"version=2}"},
	{messagedb.PutTemplate, args{messagedb.OwnTemplate{Template: notify.Template{
		Topic: "BOOKED", Channel: notify.SMS, Locale: "en", Body: "Hi",
	}, Version: 2, UpdatedAt: start}}, "notification_templates BOOKED SMS en {body=Hi " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{messagedb.InsertNotices, args{[]notify.Notice{{
		ID: id[tenant.NoticeID]("second"), Topic: "BOOKED", Lane: notify.Alert, Member: id[tenant.MemberID]("member"),
		Session: id[tenant.SessionID]("session"), Booking: id[tenant.BookingID]("booking"), Thing: uuid("booking"),
		Revision: "9", DueAt: now, ExpiresAt: start, At: start,
	}}, start, func(time.Time) {}}, "notices +second {booking_id=booking created_at=2026-03-02T08:00:00+00:00 " +
		"due_at=2026-03-01T12:00:00+00:00 expires_at=2026-03-02T08:00:00+00:00 " +
		"happened_at=2026-03-02T08:00:00+00:00 lane=ALERT member_id=member recipient=member revision=9 " +
		"session_id=session thing=booking topic=BOOKED}"},
	{messagedb.InsertNotices, args{[]notify.Notice{{ // it is there
		ID: id[tenant.NoticeID]("second"), Topic: "BOOKED", Lane: notify.Alert, Member: id[tenant.MemberID]("member"),
		Thing: uuid("booking"), Revision: "1", DueAt: now, ExpiresAt: start, At: start,
	}}, start, func(time.Time) {}}, ""},
	{messagedb.CloseNotice, args{"notice", now}, "notices notice {done_at=2026-03-01T12:00:00+00:00}"},
	{messagedb.CloseNotice, args{"third", start}, ""},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("notice"), DueAt: start, Attempts: 1, Done: true},
	}, now}, `
notices notice {attempts=1 done_at=2026-03-01T12:00:00+00:00 due_at=2026-03-02T08:00:00+00:00}`},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("notice"), DueAt: start, Attempts: 1, Attempt: 1},
	}, now}, ""},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("notice"), DueAt: start, Attempts: 1},
		{ID: id[tenant.NoticeID]("other"), DueAt: now, Attempts: 2},
	}, now}, `
notices notice {attempts=1 due_at=2026-03-02T08:00:00+00:00}
notices other {attempts=2 due_at=2026-03-01T12:00:00+00:00 sending=false}`},
	{func(tx *pg.Tx, in tenant.TenantID, first, then notify.NoticeState) {
		messagedb.UpdateNotices(tx, in, []notify.NoticeState{first}, now)
		messagedb.UpdateNotices(tx, in, []notify.NoticeState{then}, now)
	}, args{
		notify.NoticeState{ID: id[tenant.NoticeID]("notice"), DueAt: now, Sending: true, Attempts: 1, Unsure: 1},
		notify.NoticeState{ID: id[tenant.NoticeID]("notice"), DueAt: start, Attempt: 1, Attempts: 1, Unsure: 2},
	}, "notices notice {attempts=1 sending=true unsure=1}"},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: notify.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now, Attempts: 2}, now,
	}, "notices third {attempts=2 done_at=null due_at=2026-03-01T12:00:00+00:00}"},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: notify.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now, Attempts: 2, Tried: []notify.Channel{notify.Push}}, now,
	}, `
notices third {attempts=2 done_at=null due_at=2026-03-01T12:00:00+00:00 tried=["PUSH"]}`},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: notify.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now}, start,
	}, ""},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("notice"), Channel: notify.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now}, now,
	}, ""},
	{messagedb.ReopenNotice, args{ // a message of it was delivered
		messagedb.Delivery{Notice: id[tenant.NoticeID]("fourth"), Channel: notify.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now}, now,
	}, ""},
	{messagedb.PutStops, args{
		messagedb.NotificationStop{Channel: notify.Email, Address: "CY@example.com", Reason: notify.BouncedReason, At: start},
		messagedb.NotificationStop{Channel: notify.SMS, Reason: notify.Unsubscribed, At: start},
		messagedb.NotificationStop{Channel: notify.Email, Address: "cy@example.com", Reason: notify.Unsubscribed, At: now},
	}, "notification_stops +EMAIL cy@example.com {address=cy@example.com channel=EMAIL " +
		"created_at=2026-03-02T08:00:00+00:00 reason=BOUNCED}"},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: notify.Email, Address: "ANA@example.com", Reason: notify.BouncedReason, At: start,
	}}, ""},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: notify.SMS, Address: "+43", Reason: notify.Unsubscribed, At: start,
	}}, "notification_stops SMS +43 {created_at=2026-03-02T08:00:00+00:00 reason=UNSUBSCRIBED}"},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: notify.Email, Address: "CY@example.com", Reason: notify.BouncedReason, At: start,
	}}, "notification_stops +EMAIL cy@example.com {address=cy@example.com channel=EMAIL " +
		"created_at=2026-03-02T08:00:00+00:00 reason=BOUNCED}"},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: notify.Email, Address: "ANA@example.com", Reason: notify.Unsubscribed, At: start,
	}}, ""},
	{messagedb.PutPreferences, args{
		"third", notify.Preferences{{Topic: "MOVED", Channel: notify.SMS}: true}, now,
	}, "notification_preferences +third MOVED SMS {channel=SMS enabled=true member_id=third " +
		"topic=MOVED updated_at=2026-03-01T12:00:00+00:00}"},
	{messagedb.PutMemberQuiet, args{"member", &notify.QuietHours{Start: civil.TimeOfDay{Hour: 1}}, now}, `
notification_members member {quiet_end=00:00:00 quiet_start=01:00:00}`},
	{
		messagedb.PutFeed, args{"receiver", []byte("secret"), now},
		"notification_members +receiver {feed_hash=\\x#secret member_id=receiver " +
			"updated_at=2026-03-01T12:00:00+00:00}",
	},
	{messagedb.CloseFeed, args{"member", now}, "notification_members member {feed_hash=null}"},
	{messagedb.DeleteStop, args{notify.SMS, "+43"}, "notification_stops -SMS +43"},
	{messagedb.DeleteStop, args{notify.Email, "+43"}, ""},
	{messagedb.DeleteStop, args{notify.Email, "ANA@example.com"}, "notification_stops -EMAIL ana@example.com"},
	{messagedb.Resubscribe, args{"member"}, "notification_stops -EMAIL ana@example.com"},
	{messagedb.Resubscribe, args{"other"}, ""},
	{messagedb.DeleteTemplate, args{notify.Topic("BOOKED"), notify.SMS, "en"}, "notification_templates -BOOKED SMS en"},
	{messagedb.DeleteTemplate, args{notify.Topic("BOOKED"), notify.SMS, "de"}, ""},
	{messagedb.DeleteTemplate, args{notify.Topic("MOVED"), notify.SMS, "en"}, ""},
	{messagedb.DeleteTemplate, args{notify.Topic("BOOKED"), notify.Email, "en"}, ""},

	{scheduledb.InsertSeries, args{session.Series{
		ID: id[tenant.SeriesID]("second"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
		},
		Rule: "FREQ=WEEKLY", Date: day, Duration: time.Hour, MaterializedUntil: day, CreatedAt: now,
	}}, "series +second {created_at=2026-03-01T12:00:00+00:00 duration_seconds=3600 " +
		"location_id=location materialized_until=2026-03-02 rule=FREQ=WEEKLY service_id=service " +
		"start_date=2026-03-02 start_time=00:00:00 title=Row updated_at=0001-01-01T00:00:00+00:00}"},
	{scheduledb.InsertSessions, args{[]session.Session{{
		ID: id[tenant.SessionID]("account"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
			Capacity: new(9), WaitlistCapacity: 7,
		},
		StartsAt: start, EndsAt: start.Add(time.Hour), LocalDate: day, State: catalog.Published, CreatedAt: now,
	}}}, "sessions +account {capacity=9 created_at=2026-03-01T12:00:00+00:00 " +
		"ends_at=2026-03-02T09:00:00+00:00 local_date=2026-03-02 location_id=location " +
		"service_id=service starts_at=2026-03-02T08:00:00+00:00 state=PUBLISHED title=Row " +
		"updated_at=0001-01-01T00:00:00+00:00 waitlist_capacity=7}"},
	{scheduledb.InsertWorkout, args{session.Workout{
		ID: id[tenant.WorkoutID]("second"), Name: "Swim", Body: "1 km", CreatedAt: now,
	}}, "workouts +second {body=1 km created_at=2026-03-01T12:00:00+00:00 name=Swim " +
		"updated_at=0001-01-01T00:00:00+00:00}"},
	{scheduledb.UpdateSeries, args{session.Series{
		ID: id[tenant.SeriesID]("series"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
		},
		Rule: "FREQ=WEEKLY", Date: day, Duration: time.Hour, MaterializedUntil: day, Version: 2, UpdatedAt: start,
	}}, "series series {rule=FREQ=WEEKLY start_time=00:00:00 title=Row " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{scheduledb.UpdateSessions, args{[]session.Session{{
		ID: id[tenant.SessionID]("session"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
			Capacity: new(9), WaitlistCapacity: 7,
		},
		StartsAt: start, EndsAt: start.Add(time.Hour), LocalDate: day, State: catalog.Published, Version: 2, UpdatedAt: start,
	}}}, "sessions session {capacity=9 coach_id=null occurs_at=null occurs_on=null resource_id=null " +
		"series_id=null title=Row updated_at=2026-03-02T08:00:00+00:00 version=2 waitlist_capacity=7}"},
	{scheduledb.InsertSessions, args{[]session.Session(nil)}, ""},
	{scheduledb.UpdateSessions, args{[]session.Session(nil)}, ""},
	{scheduledb.UpdateWorkout, args{session.Workout{
		ID: id[tenant.WorkoutID]("workout"), Name: "Rest", Body: "None", Version: 2, UpdatedAt: start,
	}}, "workouts workout {body=None name=Rest updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{
		scheduledb.DeleteSessions, args{"session", "batch", now},
		"sessions session {batch_id=batch deleted_at=2026-03-01T12:00:00+00:00 version=2}",
	},
	{scheduledb.AttachWorkouts, args{"other", "workout"}, `
session_workouts +other 1 {position=1 session_id=other workout_id=workout}
session_workouts -other 0
sessions other {has_workouts=true}
workouts -third`},
	{scheduledb.AttachWorkouts, args{"other", "third other"}, `
session_workouts +other 1 {position=1 session_id=other workout_id=third}
session_workouts +other 2 {position=2 session_id=other workout_id=other}
session_workouts -other 0
sessions other {has_workouts=true}`},
	{scheduledb.AttachWorkouts, args{"session", ""}, `
session_workouts -session 0
session_workouts -session 1`},

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
		Try: 3, CreatedAt: now, ExpiresAt: start, ClaimHash: sha("x"), Code: "78",
	}}, "waitlist_offers +fifth {claim_hash=\\x#x code=78 created_at=2026-03-01T12:00:00+00:00 " +
		"entry_id=second expires_at=2026-03-02T08:00:00+00:00 member_id=receiver round_id=round " +
		"seats=2 session_id=session status=LIVE try=3}"},
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
	{waitlistdb.MovePlaces, args{"session other", []waitlist.Queue{queue}}, ""},
	{func(tx *pg.Tx, in tenant.TenantID, moved tenant.SessionID) {
		tx.Write("update sessions set local_date = '2026-03-04' where tenant_id = $1 and id = $2", in, moved)
		waitlistdb.MovePlaces(tx, in, []tenant.SessionID{moved}, []waitlist.Queue{queue})
	}, args{"session"}, `
sessions session {local_date=2026-03-04}
waitlist_places other session {local_date=2026-03-04}
waitlist_places second session {local_date=2026-03-04}
waitlist_places waiting session {local_date=2026-03-04}
waitlist_queues location service 2026-03-02 {waiting=3}
waitlist_queues location service 2026-03-04 {last_key=2}`},
	{waitlistdb.PutRules, args{waitlistdb.RulesVersion{Layer: waitlist.Layer{
		Level: catalog.TenantLevel, Scope: uuid("tenant"), Version: 7,
	}, Author: "ana", At: now}}, `
policies TENANT tenant {rules_version=7}
tenants  {house_version=2}
waitlist_rules_versions +7 {author=ana created_at=2026-03-01T12:00:00+00:00 level=TENANT scope_id=tenant version=7}`},
	{waitlistdb.SettleLevel, args{
		waitlistdb.EditedLevel{Level: catalog.TenantLevel, Scope: uuid("tenant"), Rules: 3, Policy: 1},
	}, "policies TENANT tenant {rules_due=false}"},
	{waitlistdb.SettleLevel, args{
		waitlistdb.EditedLevel{Level: catalog.TenantLevel, Scope: uuid("tenant"), Rules: 2, Policy: 1},
	}, ""},
}

// errRollBack ends a transaction whose changes were seen.
var errRollBack = errors.New("seen")

// Each function writes the rows that its comment promises, and no others.
func TestWrites_ChangeTheirRowsOnly(t *testing.T) {
	t.Parallel()
	db := fill(t)
	in := id[tenant.TenantID]("tenant")
	for _, w := range writes {
		write := reflect.ValueOf(w.write)
		var changes []string
		err := db.InTx(t.Context(), pg.Scope{Tenant: in}, "test", func(ctx context.Context, tx *pg.Tx) error {
			call := []reflect.Value{reflect.ValueOf(tx), reflect.ValueOf(in)}
			for i, arg := range w.with {
				last := write.Type().NumIn() - 1
				if typ := write.Type().In(min(i+2, last)); write.Type().IsVariadic() && i+2 >= last {
					call = append(call, argument(typ.Elem(), arg))
				} else {
					call = append(call, argument(typ, arg))
				}
			}
			write.Call(call)
			tx.Write("set local jit = off") // compiling takes seconds
			tx.Write("select change from changed order by change").Query(func(rows pgx.Rows) (err error) {
				changes, err = pgx.CollectRows(rows, pgx.RowTo[string])
				return err
			})
			return errors.Join(tx.Flush(ctx), errRollBack)
		})
		test.EqError(t, err, errRollBack.Error(), test.Sprint(nameOf(write)))
		for i := range changes {
			changes[i] = readable.Replace(changes[i])
		}
		slices.Sort(changes)
		want, got := strings.TrimPrefix(w.want, "\n"), strings.Join(changes, "\n")
		test.EqOp(t, want, got, test.Sprintf("%s %+v", nameOf(write), w.with))
	}
}

package data

import (
	"time"

	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

var accountWrites = []write{
	{accountdb.DeletePendingContact, args{"member", member.ByPhone}, "pending_contacts -member PHONE"},
	{accountdb.DeletePendingContact, args{"other", member.ByPhone}, ""},
	{accountdb.DeleteOldCodes, args{now}, ""},
	{accountdb.DeleteOldCodes, args{now.Add(time.Microsecond)}, `
contact_codes -code
contact_codes -fourth
contact_codes -other`},
	{accountdb.InsertPlatformMails, args{accountdb.PlatformMail{
		ID: id[tenant.MailID]("second"), Kind: "SIGN_IN_CODE", About: uuid("code"), Sealed: sha("s"), DueAt: now,
		ExpiresAt: start,
	}}, "platform_mails +second {about=code due_at=2026-03-01T12:00:00+00:00 expires_at=2026-03-02T08:00:00+00:00 " +
		"kind=SIGN_IN_CODE sealed=\\x#s}"},
	{
		accountdb.UpdatePlatformMail,
		args{accountdb.PlatformMail{ID: id[tenant.MailID]("other"), Attempts: 3, DueAt: start}},
		"platform_mails other {attempts=3 due_at=2026-03-02T08:00:00+00:00}",
	},
	{
		accountdb.DelayPlatformMail,
		args{accountdb.PlatformMail{ID: id[tenant.MailID]("other"), Attempts: 2, DueAt: start}},
		"platform_mails other {due_at=2026-03-02T08:00:00+00:00}",
	},
	{
		accountdb.DelayPlatformMail,
		args{accountdb.PlatformMail{ID: id[tenant.MailID]("other"), Attempts: 1, DueAt: start}}, "",
	},
	{accountdb.InsertInvitation, args{member.Invitation{
		ID: id[tenant.InvitationID]("second"), Member: id[tenant.MemberID]("receiver"), Address: "z@example.com",
		Roles: []string{"zoo"}, InvitedBy: "desk", CreatedAt: now, SentAt: now, ExpiresAt: start,
	}}, "invitations +second {address=z@example.com created_at=2026-03-01T12:00:00+00:00 " +
		"expires_at=2026-03-02T08:00:00+00:00 invited_by=desk member_id=receiver roles=[\"zoo\"] " +
		"sent_at=2026-03-01T12:00:00+00:00}"},
	{accountdb.AcceptInvitation, args{"third", start}, "invitations third {accepted_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.EndInvitations, args{"member", start}, "invitations entry {revoked_at=2026-03-02T08:00:00+00:00}\n" +
		"platform_mails -fourth\nplatform_mails -third"},
	{accountdb.EndInvitations, args{"receiver", start}, ""},
	{accountdb.DeleteOldInvitations, args{start}, ""},
	{accountdb.DeleteOldInvitations, args{start.Add(time.Microsecond)}, `
invitations -entry
invitations -other
invitations -third`},
	{accountdb.InsertAddressChange, args{member.AddressChange{
		ID: id[tenant.AddressChangeID]("second"), Member: id[tenant.MemberID]("receiver"), From: "z@example.com",
		To: "y@example.com", ChangedBy: "desk", CreatedAt: now,
	}}, "address_changes +second {changed_by=desk created_at=2026-03-01T12:00:00+00:00 from_address=z@example.com " +
		"member_id=receiver to_address=y@example.com}"},
	{accountdb.TellAddressChange, args{"entry", start}, "address_changes entry {told_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.TellAddressChange, args{"third", start},
		"address_changes third {told_again_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.AgreeToAddressChange, args{"third", start}, "address_changes third {agreed_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.RefuseAddressChange, args{"entry", start}, "address_changes entry {ended_at=2026-03-02T08:00:00+00:00 " +
		"refused_at=2026-03-02T08:00:00+00:00}\nplatform_mails -fourth"},
	{accountdb.EndAddressChange, args{"member", start},
		"address_changes entry {ended_at=2026-03-02T08:00:00+00:00}\nplatform_mails -fourth"},
	{accountdb.EndAddressChange, args{"receiver", start}, ""},
	{
		accountdb.ProveAnew,
		args{member.Member{ID: id[tenant.MemberID]("member"), ByInvitation: true, LinkedByEmail: true, Subject: "ana"}},
		"members member {by_invitation=true linked_by_email=true sign_in_email=}",
	},
	{
		accountdb.ProveAnew, args{member.Member{ID: id[tenant.MemberID]("member"), SignInEmail: "ana@example.com"}},
		"members member {subject=}",
	},
	{accountdb.DeleteOldAddressChanges, args{now}, ""},
	{accountdb.DeleteOldAddressChanges, args{now.Add(time.Microsecond)}, "address_changes -other"},
	{accountdb.DeletePlatformMail, args{"other"}, "platform_mails -other"},
	{accountdb.DeletePlatformMailsAbout, args{"member"}, "platform_mails -batch\nplatform_mails -other"},
	{accountdb.TrimDevices, args{"member", 1}, "devices -device"},
	{accountdb.TrimDevices, args{"member", 2}, ""},
	{accountdb.TrimDevices, args{"third", 1}, `
devices -fourth
devices -third`},
	{accountdb.TrimDevices, args{"third", 2}, "devices -fourth"},
	{accountdb.DeleteStaleDevices, args{now}, `
devices -fourth
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
	{accountdb.SealDevice, args{"fourth", accountdb.SealedToken{Sealed: sha("s"), Hash: sha("h")}}, ""},
	{accountdb.SealDevice, args{"fourth", accountdb.SealedToken{Sealed: sha("s"), Hash: sha("other")}}, ""},
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
		}, sha("x"), true, start,
	}, "contact_codes +second {address_hash=\\x#x created_at=2026-03-02T08:00:00+00:00 kind=PHONE " +
		"member_id=member sent=true}"},
	{accountdb.PutGuesses, args{id[tenant.CodeID]("other"), 4}, "contact_codes other {guesses=4}"},
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
	{accountdb.InsertSignIn, args{
		signin.Start(id[tenant.SignInID]("second"), id[tenant.MemberID]("member"), signin.ByPasskey, "Opera", "::1", now),
		sha("h"),
	}, "sign_ins +second {address=::1 browser=Opera created_at=2026-03-01T12:00:00+00:00 " +
		"expires_at=2026-03-31T12:00:00+00:00 member_id=member method=PASSKEY token_hash=\\x#h " +
		"used_at=2026-03-01T12:00:00+00:00}"},
	{accountdb.UpdateSignIn, args{signin.SignIn{
		ID: id[tenant.SignInID]("sign_in"), Method: signin.ByPasskey, UsedAt: start, ExpiresAt: start.Add(time.Hour),
	}}, "sign_ins sign_in {expires_at=2026-03-02T09:00:00+00:00 used_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.PutSignInAddresses, args{[]accountdb.SignInAddress{
		{Member: id[tenant.MemberID]("member"), Hash: sha("x")},
		{Member: id[tenant.MemberID]("receiver"), Hash: sha("h")},
	}, sha("key")[:8]}, `
sign_in_addresses +receiver {address_hash=\x#h key_check=\x2c70e12b7a0646f9 member_id=receiver}
sign_in_addresses member {address_hash=\x#x}`},
	{accountdb.DeleteSignInAddress, args{"member"}, "sign_in_addresses -member"},
	{accountdb.InsertSignInCodes, args{signin.NewCode(
		id[tenant.CodeID]("second"), id[tenant.MemberID]("member"), sha("x"), nil, sha("h"), 8, now,
	)}, "sign_in_codes +second {address_hash=\\x#x code_hash=\\x#h created_at=2026-03-01T12:00:00+00:00 digits=8 " +
		"expires_at=2026-03-01T12:10:00+00:00 member_id=member}"},
	{accountdb.InsertSignInCodes, args{}, ""},
	{accountdb.InsertPlatformMails, args{}, ""},
	{accountdb.AddSignInGuess, args{now, 1}, "sign_in_guesses 2026-03-01 12:00:00+00 1 {guesses=3}"},
	{accountdb.AddSignInGuess, args{now, 2}, "sign_in_guesses +2026-03-01 12:00:00+00 2 {guesses=1 " +
		"hour=2026-03-01T12:00:00+00:00 place=2}"},
	{accountdb.DeleteOldSignInGuesses, args{now}, ""},
	{accountdb.DeleteOldSignInGuesses, args{start}, "sign_in_guesses -2026-03-01 12:00:00+00 1"},
	{accountdb.UpdateSignInCode, args{signin.Code{ID: id[tenant.CodeID]("sign_in"), Guesses: 3, Used: true}},
		"sign_in_codes sign_in {guesses=3 used=true}"},
	{accountdb.InsertPasskey, args{signin.Passkey{
		ID: id[tenant.PasskeyID]("second"), Member: id[tenant.MemberID]("member"), CredentialID: sha("x"),
		Credential: []byte("{}"), Name: "Opera", CreatedAt: now, UsedAt: now, AskedAt: now,
	}}, "passkeys +second {asked_at=2026-03-01T12:00:00+00:00 created_at=2026-03-01T12:00:00+00:00 credential=\\x7b7d " +
		"credential_id=\\x#x member_id=member name=Opera used_at=2026-03-01T12:00:00+00:00}"},
	{accountdb.UpdatePasskey, args{signin.Passkey{
		ID: id[tenant.PasskeyID]("sign_in"), Credential: []byte("{}"), UsedAt: start, AskedAt: start,
	}}, "passkeys sign_in {asked_at=2026-03-02T08:00:00+00:00 used_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.DeletePasskey, args{"member", "sign_in"}, "passkeys -sign_in"},
	{accountdb.DeletePasskey, args{"receiver", "sign_in"}, ""},
	{accountdb.TrimSignIns, args{"member", 1}, "sign_ins -sign_in"},
	{accountdb.TrimSignIns, args{"member", 2}, ""},
	{accountdb.DeleteSignIn, args{"other"}, "sign_ins -other"},
	{accountdb.DeleteSignInsOf, args{"member"}, "passkeys -sign_in\nsign_ins -other\nsign_ins -sign_in"},
	{accountdb.DeleteOldSignIns, args{start, now}, ""},
	{accountdb.DeleteOldSignIns, args{start.Add(time.Microsecond), now.Add(time.Microsecond)}, `
sign_in_codes -sign_in
sign_ins -other
sign_ins -sign_in
sign_ins -third`},
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
	{accountdb.DeleteTransfersOf, args{"member"}, "ownership_transfers -transfer"},
	{
		accountdb.DeleteTransfersOf, args{"receiver"},
		"ownership_transfers -other\nownership_transfers -third\nownership_transfers -transfer",
	},
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
		member.Device{
			ID: id[tenant.DeviceID]("seventh"), Member: id[tenant.MemberID]("member"), Kind: member.Web,
			CreatedAt: now, SeenAt: now,
		},
		accountdb.SealedToken{Sealed: sha("s"), Hash: sha("h"), Former: [][]byte{sha("token")}}, new(member.Device),
	}, `devices device {kind=WEB sealed=\x#s token=null token_hash=\x#h}`},
	{accountdb.SaveDevice, args{
		member.Device{
			ID: id[tenant.DeviceID]("seventh"), Member: id[tenant.MemberID]("member"), Kind: member.Web,
			CreatedAt: now, SeenAt: now,
		},
		accountdb.SealedToken{Sealed: sha("s"), Hash: sha("other"), Former: [][]byte{sha("token")}}, new(member.Device),
	}, "devices other {kind=WEB seen_at=2026-03-01T12:00:00+00:00}"},
	{accountdb.UpdateMember, args{member.Member{
		ID: id[tenant.MemberID]("member"), Name: "Anna", Status: member.Active, Version: 2, UpdatedAt: start,
	}}, "members member {email= email_key= locale= name=Anna name_key=anna phone= sign_in_email= " +
		"subject= updated_at=2026-03-02T08:00:00+00:00 version=2}"},
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
	{accountdb.MarkKeyUsed, args{"third", now.Add(-time.Hour)}, ""},
	{accountdb.RevokeAccount, args{"account", start.Add(48 * time.Hour)}, `
service_account_roles -account coach
service_accounts account {revoked_at=2026-03-04T08:00:00+00:00}`},
	{accountdb.MarkKeyUsed, args{"third", start}, "service_account_keys third {used_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.SaveDevice, args{
		member.Device{
			ID: id[tenant.DeviceID]("seventh"), Member: id[tenant.MemberID]("third"), Kind: member.Web,
			CreatedAt: start, SeenAt: start,
		},
		accountdb.SealedToken{Sealed: sha("s"), Hash: sha("other"), Former: [][]byte{sha("token")}}, new(member.Device),
	}, "devices other {created_at=2026-03-02T08:00:00+00:00 kind=WEB member_id=third seen_at=2026-03-02T08:00:00+00:00}"},
	{accountdb.DeleteMemberRole, args{"member", "owner"}, ""},
	{accountdb.DeleteMemberRole, args{"third", "coach"}, ""},
}

package main

import (
	"strings"

	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Members, their own profiles and devices, and imports.
func membersScript() script {
	return script{
		memberEditsScript(),
		meScript(),
		contactsScript(),
		memberListsScript(),
		memberImportsScript(),
		invitationsScript(),
	}
}

func memberEditsScript() script {
	add := func(in *v1.MemberInput) *v1.CreateMemberRequest { return &v1.CreateMemberRequest{Member: in} }
	ada := &v1.MemberInput{
		Name: "Ada Member", Phone: "+4915112345670", Tier: "gold", Tags: []string{"early", "loud"},
		Locale: "pt-PT", TimeZone: "Europe/Lisbon", Notes: "Knows everybody.",
	}
	edit := func(id string, in *v1.MemberInput, names ...string) *v1.UpdateMemberRequest {
		return &v1.UpdateMemberRequest{MemberId: id, Member: in, UpdateMask: paths(names...)}
	}
	change := edit(
		"$ada", &v1.MemberInput{Name: "Ada Lovelace", Tags: []string{"quiet"}, Notes: "Moved."},
		"name", "email", "tags", "notes", "tier",
	)
	change.Etag = "$created.member.etag"
	return script{
		frida.calls("The front desk adds Ada",
			add(with(ada, &v1.MemberInput{Subject: "ada", Email: "Ada@example.com"}))).as("created").named("ada"),
		frida.refused("The front desk adds her email again", "ALREADY_EXISTS",
			add(with(ada, &v1.MemberInput{Email: "ADA@example.com"}))),
		frida.refused("The front desk adds her subject again", "ALREADY_EXISTS",
			add(with(ada, &v1.MemberInput{Subject: "ada"}))),
		frida.refused("The front desk adds a member without a name", "INVALID_FIELD", add(&v1.MemberInput{})),
		frida.refused("The front desk adds a number that cannot be", "INVALID_FIELD",
			add(&v1.MemberInput{Name: "Bea", Phone: "+9991234567"})),
		frida.refused("The front desk adds a language that is none", "INVALID_FIELD",
			add(&v1.MemberInput{Name: "Bea", Locale: "xx"})),
		mia.refused("Mia adds a member", "PERMISSION_DENIED", add(&v1.MemberInput{Name: "Bea"})),
		frida.calls("The front desk edits Ada", change),
		frida.refused("The front desk edits an Ada who has changed", "ETAG_MISMATCH", change),
		frida.refused("The front desk changes her subject", "INVALID_FIELD",
			edit("$ada", &v1.MemberInput{Subject: "other"}, "subject")),
		frida.refused("The front desk gives her Mia's email", "ALREADY_EXISTS",
			edit("$ada", &v1.MemberInput{Email: "mia@example.com"}, "email")),
		frida.refused("The front desk edits an unknown member", "MEMBER_NOT_FOUND",
			edit(absentID, &v1.MemberInput{}, "notes")),
		frida.refused("The front desk edits the owner", "PERMISSION_DENIED",
			edit("$olga", &v1.MemberInput{Notes: "Nice."}, "notes")),
		olga.refused("The last owner leaves", "LAST_OWNER",
			&v1.DeactivateMemberRequest{MemberId: "$olga"}),
		frida.refused("The front desk suspends the owner", "PERMISSION_DENIED",
			&v1.DeactivateMemberRequest{MemberId: "$olga"}),
		frida.calls("The front desk suspends Ada", &v1.DeactivateMemberRequest{MemberId: "$ada"}),
		frida.calls("The front desk has Ada back", &v1.ReactivateMemberRequest{MemberId: "$ada"}),
		frida.calls("The front desk has her back again", &v1.ReactivateMemberRequest{MemberId: "$ada"}),
		frida.calls("The front desk suspends Ada again", &v1.DeactivateMemberRequest{MemberId: "$ada"}),
		mia.refused("Mia suspends Tom", "PERMISSION_DENIED", &v1.DeactivateMemberRequest{MemberId: "$tom"}),
		cora.calls("The coach reads Ada", &v1.GetMemberRequest{MemberId: "$ada"}),
		cora.refused("The coach reads an unknown member", "MEMBER_NOT_FOUND", &v1.GetMemberRequest{MemberId: absentID}),
		tom.refused("Tom reads Mia", "PERMISSION_DENIED", &v1.GetMemberRequest{MemberId: "$mia"}),
	}
}

func meScript() script {
	edit := func(in *v1.MeInput) *v1.UpdateMeRequest {
		return &v1.UpdateMeRequest{Member: in, UpdateMask: paths("name", "email", "phone", "locale", "time_zone")}
	}
	moore := &v1.MeInput{
		Name: "Mia Moore", Email: "moore@example.com", Locale: "de-AT", TimeZone: "Europe/Vienna",
	}
	return script{
		mia.calls("Mia reads herself", &v1.GetMeRequest{}),
		frida.calls("The front desk reads itself", &v1.GetMeRequest{}),
		mia.calls("Mia's account is linked already", &v1.LinkMeRequest{}),
		ivan.refused("Ivan's account is nobody's any more", "NOT_A_MEMBER", &v1.LinkMeRequest{}),
		ivan.refused("Ivan reads himself", "MEMBER_INACTIVE", &v1.GetMeRequest{}),
		portal.refused("The partner reads itself", "NOT_A_MEMBER", &v1.GetMeRequest{}),
		mia.calls("Mia edits herself", edit(moore)),
		mia.refused("Mia edits herself as she was", "ETAG_MISMATCH", with(edit(moore), &v1.UpdateMeRequest{Etag: "v1"})),
		mia.calls("Mia enters Tom's email", edit(&v1.MeInput{Name: "Mia", Email: "tom@example.com"})),
		mia.refused("Mia edits her notes", "INVALID_FIELD",
			&v1.UpdateMeRequest{Member: &v1.MeInput{}, UpdateMask: paths("notes")}),
		mia.calls("Mia registers her phone", &v1.RegisterDeviceRequest{
			Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "phone",
		}).as("phone"),
		mia.calls("Mia registers her phone again",
			&v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "phone"}),
		mia.calls("Mia registers her browser",
			&v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_WEB, Token: "browser"}),
		tom.calls("Tom has Mia's browser now",
			&v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_WEB, Token: "browser"}),
		tom.refused("Tom unregisters Mia's phone", "DEVICE_NOT_FOUND",
			&v1.UnregisterDeviceRequest{DeviceId: "$phone.device.id"}),
		cora.calls("The coach sees Mia's device", &v1.GetMemberRequest{MemberId: "$mia"}),
		mia.calls("Mia reads her phone", &v1.GetDeviceRequest{DeviceId: "$phone.device.id"}),
		tom.refused("Tom reads Mia's phone", "DEVICE_NOT_FOUND", &v1.GetDeviceRequest{DeviceId: "$phone.device.id"}),
		mia.calls("Mia lists her devices", &v1.ListDevicesRequest{}),
		mia.refused("Mia lists all devices", "PERMISSION_DENIED",
			&v1.ListDevicesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL}),
		cora.calls("The coach lists all browsers", &v1.ListDevicesRequest{
			Scope:  v1.ListScope_LIST_SCOPE_ALL,
			Filter: &v1.DeviceFilter{Kinds: []v1.DeviceKind{v1.DeviceKind_DEVICE_KIND_WEB}},
		}),
		miaSignsIn,
		mia.calls("Mia lists where she is signed in with Berth", &v1.ListSignInsRequest{}).as("browsers"),
		frida.calls("The front desk lists where Mia is signed in", &v1.ListSignInsRequest{MemberId: "$mia"}),
		tom.refused("Tom lists where Mia is signed in", "MEMBER_NOT_FOUND", &v1.ListSignInsRequest{MemberId: "$mia"}),
		mia.calls("Mia signs her old browser out",
			&v1.EndSignInsRequest{SignInIds: []string{"$browsers.signIns.1.id"}}),
		mia.calls("Mia signs out everywhere", &v1.EndSignInsRequest{}),
		mia.calls("Mia removes her passkey", &v1.RemovePasskeyRequest{PasskeyId: "$browsers.passkeys.0.id"}),
		mia.calls("Mia removes a passkey that is gone",
			&v1.RemovePasskeyRequest{PasskeyId: "00000000-0000-4000-8000-000000000000"}),
		mia.calls("Mia is signed in nowhere", &v1.ListSignInsRequest{}),
		frida.refused("The front desk removes a passkey of the owner", "PERMISSION_DENIED",
			&v1.RemovePasskeyRequest{MemberId: "$olga", PasskeyId: "00000000-0000-4000-8000-000000000000"}),
		tom.refused("Tom signs Mia out", "MEMBER_NOT_FOUND", &v1.EndSignInsRequest{MemberId: "$mia"}),
		frida.refused("The front desk signs the owner out", "PERMISSION_DENIED",
			&v1.EndSignInsRequest{MemberId: "$olga"}),
		mia.calls("Mia reads herself and her phone", &v1.GetMeRequest{}),
		mia.calls("Mia unregisters her phone", &v1.UnregisterDeviceRequest{DeviceId: "$phone.device.id"}),
		mia.refused("Mia unregisters it again", "DEVICE_NOT_FOUND",
			&v1.UnregisterDeviceRequest{DeviceId: "$phone.device.id"}),
	}
}

// miaSignsIn signs Mia in with Berth, in two browsers, and adds a passkey. People do that at pages outside of the
// contract, which have tests of their own.
var miaSignsIn = do(func(r *recording) {
	r.t.Helper()
	for _, sql := range []string{`
insert into sign_ins (tenant_id, id, member_id, token_hash, method, browser, address, created_at, used_at, expires_at)
select m.tenant_id, s.id, m.id, sha256(s.browser::bytea), s.method, s.browser, '192.0.2.1', $2::timestamptz - s.ago,
  $2::timestamptz - s.ago, $2::timestamptz - s.ago + interval '30 days'
from members m, (values
  ('018fe000-0000-7000-8000-000000000001'::uuid, 'CODE', 'Firefox on Linux', interval '2 hours'),
  ('018fe000-0000-7000-8000-000000000002', 'PASSKEY', 'Safari on iPhone', interval '1 hour')
) as s (id, method, browser, ago)
where m.id = $1`, `
insert into passkeys (tenant_id, id, member_id, credential_id, credential, name, created_at, used_at, asked_at)
select m.tenant_id, '018fe000-0000-7000-8000-000000000003', m.id, 'key', '{}', 'Safari on iPhone',
  $2::timestamptz - interval '1 day', $2::timestamptz - interval '1 hour', $2
from members m where m.id = $1`,
	} {
		expect.OK(r.t)(r.db.Owner.Exec(r.t.Context(), sql, r.kept["mia"], r.clock))
	}
})

// code keeps the newest code that a member was sent over a channel.
func code(member string, channel v1.NotificationChannel) exchange {
	return olga.silently(&v1.ListNotificationOutboxRequest{
		Filter: &v1.NotificationDeliveryFilter{
			MemberId: member, Channel: channel, Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_CONTACT_CODE,
		}, PageSize: 1,
	}).finding("code", `"text":\s*"[^"]*\b(\d{6})\b`)
}

// contactsScript has members confirm their contacts.
func contactsScript() script {
	confirm := func(kind v1.ContactKind, code string) *v1.ConfirmContactRequest {
		return &v1.ConfirmContactRequest{Kind: kind, Code: code}
	}
	email, phone := v1.ContactKind_CONTACT_KIND_EMAIL, v1.ContactKind_CONTACT_KIND_PHONE
	number := func(text string) *v1.UpdateMeRequest {
		return &v1.UpdateMeRequest{Member: &v1.MeInput{Phone: text}, UpdateMask: paths("phone")}
	}
	toTom := &v1.UpdateMeRequest{Member: &v1.MeInput{Email: "TOM@example.com"}, UpdateMask: paths("email")}
	return script{
		zoe.refused("Zoe confirms nothing", "CONTACT_NOT_PENDING", confirm(phone, "000000")),
		zoe.refused("Zoe enters a number in Portugal", "CONTACT_COUNTRY", number("+351912345678")),
		zoe.refused("Zoe enters a fixed-line number", "CONTACT_NOT_MOBILE", number("+4930123456")),
		zoe.calls("Zoe enters a number", number("+4915112345699")),
		zoe.calls("Zoe sees what is pending", &v1.GetMeRequest{}),
		code("$zoe", bySMS),
		do(func(r *recording) {
			code, _ := r.kept["code"].(string)
			r.kept["wrong"] = strings.Map(func(digit rune) rune { return '0' + '9' - digit }, code)
		}),
		zoe.refused("Zoe guesses her code 1", "CONTACT_CODE_INVALID", confirm(phone, "$wrong")),
		zoe.refused("Zoe guesses her code 2", "CONTACT_CODE_INVALID", confirm(phone, "$wrong")),
		zoe.refused("Zoe guesses her code 3", "CONTACT_CODE_INVALID", confirm(phone, "$wrong")),
		zoe.refused("Zoe guesses her code 4", "CONTACT_CODE_INVALID", confirm(phone, "$wrong")),
		zoe.refused("Zoe guesses her code 5", "CONTACT_CODE_INVALID", confirm(phone, "$wrong")),
		zoe.refused("Zoe finds her code", "CONTACT_CODE_EXPIRED", confirm(phone, "$code")),
		zoe.calls("Zoe asks for a second code", &v1.ResendContactCodeRequest{Kind: phone}),
		code("$zoe", bySMS),
		zoe.calls("Zoe confirms her number", confirm(phone, "$code")),
		zoe.calls("Zoe enters Tom's email", toTom),
		code("$zoe", byMail),
		zoe.refused("Zoe reads Tom's mail, and confirms it", "ALREADY_EXISTS", confirm(email, "$code")),
		zoe.calls("Zoe gives it up", &v1.CancelContactRequest{Kind: email}),
		zoe.calls("Zoe gives it up again", &v1.CancelContactRequest{Kind: email}),
		zoe.silently(toTom),
		zoe.silently(&v1.CancelContactRequest{Kind: email}),
		zoe.silently(toTom),
		zoe.silently(&v1.CancelContactRequest{Kind: email}),
		zoe.refused("Zoe enters it a fourth time", "QUOTA_EXCEEDED", toTom),
		zoe.silently(number("+4915112345698")),
		olga.calls("Olga confirms Zoe's next number by hand", &v1.ConfirmMemberContactRequest{
			MemberId: "$zoe", Kind: phone, Address: "+4915112345698", Reason: "She showed her phone.",
		}),
	}
}

func memberListsScript() script {
	find := func(filter *v1.MemberFilter) *v1.ListMembersRequest { return &v1.ListMembersRequest{Filter: filter} }
	return script{
		clock(on(5, "10:10")),
		cora.calls("The coach lists members", &v1.ListMembersRequest{}),
		cora.calls("The coach lists three members", &v1.ListMembersRequest{PageSize: 3}).as("page"),
		cora.calls("The coach lists the next three", &v1.ListMembersRequest{PageSize: 3, PageToken: "$page.nextPageToken"}),
		cora.calls("The coach looks for a number", find(&v1.MemberFilter{Query: "1511 2345 679"})),
		cora.calls("The coach looks for gold", find(&v1.MemberFilter{Tier: "gold"})),
		cora.calls("The coach looks for the quiet who left",
			find(&v1.MemberFilter{
				Tag: "quiet", Statuses: []v1.MemberStatus{v1.MemberStatus_MEMBER_STATUS_INACTIVE},
			})),
		cora.calls("The coach looks for the front desk", find(&v1.MemberFilter{Role: "front_desk"})),
		mia.refused("Mia lists members", "PERMISSION_DENIED", &v1.ListMembersRequest{}),
		cora.refused("The coach has no such page", "INVALID_FIELD", &v1.ListMembersRequest{PageToken: "none"}),
	}
}

func memberImportsScript() script {
	file := func(text string) *v1.ImportMembersRequest { return &v1.ImportMembersRequest{Csv: []byte(text)} }
	good := file("name;email;phone;tags;locale\nCarl;carl@example.com;+4915112345671;a;de\nDora;;;;\n")
	return script{
		adam.calls("The admin tries a file", with(good, &v1.ImportMembersRequest{DryRun: true})).as("tried"),
		adam.calls("The admin reads what the trial found", &v1.GetImportRequest{ImportId: "$tried.fileImport.id"}),
		adam.calls("The admin imports it", good).as("imported"),
		adam.calls("The admin reads that it was imported", &v1.GetImportRequest{ImportId: "$imported.fileImport.id"}),
		adam.calls("The admin imports it again", good).as("again"),
		adam.calls("The admin reads what is in the way", &v1.GetImportRequest{ImportId: "$again.fileImport.id"}),
		adam.calls("The admin imports wrong rows", file("name,email,phone\n,nobody,12\nEve,eve@example.com,\n"+
			"Eve,eve@example.com,\n")).as("wrong"),
		adam.calls("The admin reads what is wrong", &v1.GetImportRequest{ImportId: "$wrong.fileImport.id"}),
		adam.calls("The admin imports unknown columns", file("name,shoe size\nEve,38\n")).as("unknown"),
		adam.calls("The admin reads which are unknown", &v1.GetImportRequest{ImportId: "$unknown.fileImport.id"}),
		adam.calls("The admin lists imports of members", &v1.ListImportsRequest{Filter: &v1.ImportFilter{
			Kinds: []v1.ImportKind{v1.ImportKind_IMPORT_KIND_MEMBERS},
		}}),
		adam.refused("The admin imports no table", "IMPORT_INVALID", file("\"")),
		cora.refused("The coach imports", "PERMISSION_DENIED", good),
	}
}

// invitationsScript invites members and new people.
func invitationsScript() script {
	person := func(email string, roles ...string) *v1.InvitationInput {
		return &v1.InvitationInput{Who: &v1.InvitationInput_Person{Person: &v1.InvitedPerson{
			Name: "Nora New", Email: email, Roles: roles,
		}}}
	}
	of := func(id string) *v1.InvitationInput {
		return &v1.InvitationInput{Who: &v1.InvitationInput_MemberId{MemberId: id}}
	}
	all := func(whom ...*v1.InvitationInput) *v1.BatchCreateInvitationsRequest {
		return &v1.BatchCreateInvitationsRequest{Invitations: whom}
	}
	const first, second = "$invited.invitations.0.id", "$again.invitation.id"
	return script{
		clock(on(6, "10:10")),
		olga.calls("The owner invites Mia and a new coach",
			all(of("$mia"), person("nora@example.com", "coach"))).as("invited"),
		olga.refused("The owner invites Nora again", "ALREADY_EXISTS", all(of("$mia"), person("Nora@example.com"))),
		frida.refused("The front desk invites an admin", "PERMISSION_DENIED", all(person("new@example.com", "admin"))),
		olga.calls("The owner invites Mia once more", &v1.ResendInvitationRequest{InvitationId: first}).as("again"),
		olga.refused("The owner sends the first one again", "INVITATION_ENDED",
			&v1.ResendInvitationRequest{InvitationId: first}),
		olga.refused("The owner revokes an unknown invitation", "INVITATION_NOT_FOUND",
			&v1.RevokeInvitationRequest{InvitationId: absentID}),
		olga.calls("The owner takes Nora's back", &v1.RevokeInvitationRequest{InvitationId: "$invited.invitations.1.id"}),
		olga.calls("The owner lists invitations", &v1.ListInvitationsRequest{}),
		do(func(r *recording) { r.kept["link"] = r.invitationLink(second) }),
		tom.refused("Tom opens Mia's link", "ALREADY_EXISTS", &v1.AcceptInvitationRequest{Link: "$link"}),
		mia.calls("Mia accepts", &v1.AcceptInvitationRequest{Link: "$link"}),
		mia.refused("Mia accepts again", "LINK_INVALID", &v1.AcceptInvitationRequest{Link: "$link"}),
		olga.silently(&v1.UpdateMemberRequest{
			MemberId: "$mia", Member: &v1.MemberInput{Email: "desk@example.com"}, UpdateMask: paths("email"),
		}),
		olga.refused("The owner invites Mia at another address", "ADDRESS_IN_DOUBT", all(of("$mia"))),
	}
}

// invitationLink returns the last part of the link of an invitation, as its mail has it.
func (r *recording) invitationLink(of string) string {
	r.t.Helper()
	keys := boot.KeyConfig{Data: r.data}
	secrets := expect.Value(keys.OpenSecrets(r.t.Context(), keys.Files()))(r.t)
	id := expect.Value(tenant.Parse[tenant.InvitationID](r.expand(of)))(r.t)
	var in tenant.TenantID
	must.NoError(r.t, r.db.Owner.QueryRow(r.t.Context(), `select tenant_id from invitations where id = $1`, id).Scan(&in))
	return secrets.Seals.Sign(in, "invitation", id.UUID[:])
}

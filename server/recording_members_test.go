package main

import (
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Members, their own profiles and devices, and imports.
func recordMembers(s *studio) {
	recordMemberEdits(s)
	recordMe(s)
	recordContacts(s)
	recordMemberLists(s)
	recordMemberImports(s)
}

func recordMemberEdits(s *studio) {
	add := func(in *v1.Member) *v1.CreateMemberRequest { return &v1.CreateMemberRequest{Member: in} }
	full := &v1.Member{
		Subject: "ada", Name: "Ada Member", Email: "Ada@example.com", Phone: "+4915112345670", Tier: "gold",
		Tags:   []string{"early", "loud"},
		Locale: "pt-PT", TimeZone: "Europe/Lisbon", Notes: "Knows everybody.", Roles: []string{"admin"},
	}
	ada := recordResponse[*v1.CreateMemberResponse](s.recording, s.frida, "The front desk adds Ada", add(full)).GetMember()
	s.names.set(ada.GetId(), "ada")
	same := proto.CloneOf(full)
	same.Subject, same.Email = "", "ADA@example.com"
	s.recordError(s.frida, "The front desk adds her email again", "ALREADY_EXISTS", add(same))
	same.Subject, same.Email = "ada", ""
	s.recordError(s.frida, "The front desk adds her subject again", "ALREADY_EXISTS", add(same))
	s.recordError(s.frida, "The front desk adds a member without a name", "INVALID_FIELD", add(&v1.Member{}))
	s.recordError(
		s.frida, "The front desk adds a number that cannot be", "INVALID_FIELD",
		add(&v1.Member{Name: "Bea", Phone: "+9991234567"}),
	)
	s.recordError(
		s.frida, "The front desk adds a language that is none", "INVALID_FIELD", add(&v1.Member{Name: "Bea", Locale: "xx"}),
	)
	s.recordError(s.mia, "Mia adds a member", "PERMISSION_DENIED", add(&v1.Member{Name: "Bea"}))
	edit := func(in *v1.Member, names ...string) *v1.UpdateMemberRequest {
		return &v1.UpdateMemberRequest{Member: in, UpdateMask: paths(names...)}
	}
	change := edit(
		&v1.Member{Id: ada.GetId(), Name: "Ada Lovelace", Tags: []string{"quiet"}, Notes: "Moved.", Etag: ada.GetEtag()},
		"name", "email", "tags", "notes", "tier",
	)
	s.record(s.frida, "The front desk edits Ada", change)
	s.recordError(s.frida, "The front desk edits an Ada who has changed", "ETAG_MISMATCH", change)
	s.recordError(
		s.frida, "The front desk changes her subject", "INVALID_FIELD",
		edit(&v1.Member{Id: ada.GetId(), Subject: "other"}, "subject"),
	)
	s.recordError(
		s.frida, "The front desk gives her Mia's email", "ALREADY_EXISTS",
		edit(&v1.Member{Id: ada.GetId(), Email: "mia@example.com"}, "email"),
	)
	s.recordError(
		s.frida, "The front desk edits an unknown member", "MEMBER_NOT_FOUND",
		edit(&v1.Member{Id: absentID}, "notes"),
	)
	s.recordError(
		s.frida, "The front desk edits the owner", "PERMISSION_DENIED",
		edit(&v1.Member{Id: s.olga.id, Notes: "Nice."}, "notes"),
	)
	s.recordError(
		s.olga, "The last owner leaves", "LAST_OWNER",
		edit(&v1.Member{Id: s.olga.id, Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE}, "status"),
	)
	s.record(
		s.frida, "The front desk suspends Ada",
		edit(&v1.Member{Id: ada.GetId(), Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE}, "status"),
	)
	s.record(s.cora, "The coach reads Ada", &v1.GetMemberRequest{MemberId: ada.GetId()})
	s.recordError(
		s.cora, "The coach reads an unknown member", "MEMBER_NOT_FOUND",
		&v1.GetMemberRequest{MemberId: absentID},
	)
	s.recordError(s.tom, "Tom reads Mia", "PERMISSION_DENIED", &v1.GetMemberRequest{MemberId: s.mia.id})
}

func recordMe(s *studio) {
	s.record(s.mia, "Mia reads herself", &v1.GetMeRequest{})
	s.record(s.frida, "The front desk reads itself", &v1.GetMeRequest{})
	s.recordError(s.ivan, "Ivan reads himself", "PERMISSION_DENIED", &v1.GetMeRequest{})
	s.recordError(s.portal, "The partner reads itself", "PERMISSION_DENIED", &v1.GetMeRequest{})
	edit := &v1.UpdateMeRequest{
		Member: &v1.Member{
			Name: "Mia Moore", Email: "moore@example.com", Locale: "de-AT", TimeZone: "Europe/Vienna", Notes: "Mine.",
		},
		UpdateMask: paths("name", "email", "phone", "locale", "time_zone"),
	}
	s.record(s.mia, "Mia edits herself", edit)
	edit.Member.Etag = "v1"
	s.recordError(s.mia, "Mia edits herself as she was", "ETAG_MISMATCH", edit)
	edit.Member = &v1.Member{Name: "Mia", Email: "tom@example.com"}
	s.record(s.mia, "Mia enters Tom's email", edit)
	s.recordError(
		s.mia, "Mia edits her notes", "INVALID_FIELD", &v1.UpdateMeRequest{Member: &v1.Member{}, UpdateMask: paths("notes")},
	)
	phone := recordResponse[*v1.RegisterDeviceResponse](s.recording, s.mia, "Mia registers her phone",
		&v1.RegisterDeviceRequest{
			Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "phone",
		}).GetDevice()
	s.record(
		s.mia, "Mia registers her phone again",
		&v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "phone"},
	)
	s.record(
		s.mia, "Mia registers her browser", &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_WEB, Token: "browser"},
	)
	s.record(
		s.tom, "Tom has Mia's browser now", &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_WEB, Token: "browser"},
	)
	s.recordError(
		s.tom, "Tom unregisters Mia's phone", "DEVICE_NOT_FOUND", &v1.UnregisterDeviceRequest{DeviceId: phone.GetId()},
	)
	s.record(s.cora, "The coach sees Mia's device", &v1.GetMemberRequest{MemberId: s.mia.id})
	s.record(s.mia, "Mia unregisters her phone", &v1.UnregisterDeviceRequest{DeviceId: phone.GetId()})
	s.recordError(
		s.mia, "Mia unregisters it again", "DEVICE_NOT_FOUND", &v1.UnregisterDeviceRequest{DeviceId: phone.GetId()},
	)
}

// code returns the newest code that a member was sent over a channel.
func (s *studio) code(who person, channel v1.NotificationChannel) string {
	s.t.Helper()
	text := ""
	s.silently(func() {
		for _, m := range mustCall[*v1.ListOutboxResponse](s.recording, s.olga, &v1.ListOutboxRequest{
			Filter: &v1.DeliveryFilter{
				MemberId: who.id, Channel: channel, Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_CONTACT_CODE,
			}, PageSize: 1,
		}).GetMessages() {
			text = m.GetMessage().GetText()
		}
	})
	return regexp.MustCompile(`\b\d{6}\b`).FindString(text)
}

// recordContacts records how members confirm their contacts.
func recordContacts(s *studio) {
	confirm := func(kind v1.ContactKind, code string) *v1.ConfirmContactRequest {
		return &v1.ConfirmContactRequest{Kind: kind, Code: code}
	}
	email, phone := v1.ContactKind_CONTACT_KIND_EMAIL, v1.ContactKind_CONTACT_KIND_PHONE
	s.recordError(s.zoe, "Zoe confirms nothing", "CONTACT_NOT_PENDING", confirm(phone, "000000"))
	number := func(text string) *v1.UpdateMeRequest {
		return &v1.UpdateMeRequest{Member: &v1.Member{Phone: text}, UpdateMask: paths("phone")}
	}
	s.recordError(s.zoe, "Zoe enters a number in Portugal", "CONTACT_COUNTRY", number("+351912345678"))
	s.record(s.zoe, "Zoe enters a number", number("+4915112345699"))
	s.record(s.zoe, "Zoe sees what is pending", &v1.GetMeRequest{})
	code := s.code(s.zoe, bySMS)
	wrong := strings.Map(func(digit rune) rune { return '0' + '9' - digit }, code)
	for i := range 5 {
		s.recordError(
			s.zoe, fmt.Sprintf("Zoe guesses her code %d", i+1), "CONTACT_CODE_INVALID", confirm(phone, wrong),
		)
	}
	s.recordError(s.zoe, "Zoe finds her code", "CONTACT_CODE_EXPIRED", confirm(phone, code))
	s.record(s.zoe, "Zoe asks for a second code", &v1.ResendContactCodeRequest{Kind: phone})
	s.record(s.zoe, "Zoe confirms her number", confirm(phone, s.code(s.zoe, bySMS)))
	toTom := &v1.UpdateMeRequest{Member: &v1.Member{Email: "TOM@example.com"}, UpdateMask: paths("email")}
	s.record(s.zoe, "Zoe enters Tom's email", toTom)
	s.recordError(
		s.zoe, "Zoe reads Tom's mail, and confirms it", "ALREADY_EXISTS", confirm(email, s.code(s.zoe, byMail)),
	)
	s.record(s.zoe, "Zoe gives it up", &v1.CancelContactRequest{Kind: email})
	s.record(s.zoe, "Zoe gives it up again", &v1.CancelContactRequest{Kind: email})
	s.silently(func() {
		for range 2 {
			mustCall[*v1.UpdateMeResponse](s.recording, s.zoe, toTom)
			mustCall[*v1.CancelContactResponse](s.recording, s.zoe, &v1.CancelContactRequest{Kind: email})
		}
	})
	s.recordError(s.zoe, "Zoe enters it a fourth time", "QUOTA_EXCEEDED", toTom)
}

func recordMemberLists(s *studio) {
	s.startAt(on(5, "10:10"))
	s.record(s.cora, "The coach lists members", &v1.ListMembersRequest{})
	page := recordResponse[*v1.ListMembersResponse](
		s.recording, s.cora, "The coach lists three members", &v1.ListMembersRequest{PageSize: 3},
	)
	s.record(
		s.cora, "The coach lists the next three", &v1.ListMembersRequest{PageSize: 3, PageToken: page.GetNextPageToken()},
	)
	s.record(s.cora, "The coach looks for a number", &v1.ListMembersRequest{Query: "1511 2345 679"})
	s.record(s.cora, "The coach looks for gold", &v1.ListMembersRequest{Tier: "gold"})
	s.record(
		s.cora, "The coach looks for the quiet who left",
		&v1.ListMembersRequest{Tag: "quiet", Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE},
	)
	s.record(s.cora, "The coach looks for the front desk", &v1.ListMembersRequest{Role: "front_desk"})
	s.recordError(s.mia, "Mia lists members", "PERMISSION_DENIED", &v1.ListMembersRequest{})
	s.recordError(s.cora, "The coach has no such page", "INVALID_FIELD", &v1.ListMembersRequest{PageToken: "none"})
}

func recordMemberImports(s *studio) {
	file := func(text string) *v1.ImportMembersRequest { return &v1.ImportMembersRequest{Csv: []byte(text)} }
	good := file("name;email;phone;tags;locale\nCarl;carl@example.com;+4915112345671;a;de\nDora;;;;\n")
	good.DryRun = true
	s.record(s.adam, "The admin tries a file", good)
	good.DryRun = false
	s.record(s.adam, "The admin imports it", good)
	s.record(s.adam, "The admin imports it again", good)
	s.record(s.adam, "The admin imports wrong rows", file("name,email,phone\n,nobody,12\nEve,eve@example.com,\n"+
		"Eve,eve@example.com,\n"))
	s.record(s.adam, "The admin imports unknown columns", file("name,shoe size\nEve,38\n"))
	s.recordError(s.adam, "The admin imports no table", "IMPORT_INVALID", file("\""))
	s.recordError(s.cora, "The coach imports", "PERMISSION_DENIED", good)
}

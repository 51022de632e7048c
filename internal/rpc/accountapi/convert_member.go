package accountapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	memberStatusPrefix = "MEMBER_STATUS_"
	deviceKindPrefix   = "DEVICE_KIND_"
	contactKindPrefix  = "CONTACT_KIND_"
)

func memberMessage(m member.Member) *v1.Member {
	return &v1.Member{
		Id:         convert.IDText(m.ID),
		Subject:    m.Subject,
		Name:       m.Name,
		Email:      m.Email,
		Phone:      m.Phone,
		Tier:       m.Tier,
		Tags:       m.Tags,
		Roles:      m.Roles,
		Status:     convert.Enum[v1.MemberStatus](v1.MemberStatus_value, memberStatusPrefix, m.Status),
		Locale:     m.Locale,
		TimeZone:   m.TimeZone,
		Notes:      m.Notes,
		Etag:       convert.Etag(m.Version),
		CreateTime: convert.Timestamp(m.CreatedAt),
		UpdateTime: convert.Timestamp(m.UpdatedAt),

		EmailConfirmed: m.Confirmed(member.ByEmail, ""),
		PhoneConfirmed: m.Confirmed(member.ByPhone, ""),
	}
}

// ownMessage is the message of the caller's own membership.
func ownMessage(m member.Member, caller tenant.Caller) *v1.Member {
	own := memberMessage(m)
	own.EmailConfirmed = m.Confirmed(member.ByEmail, caller.Email)
	return own
}

func pendingMessage(p member.PendingContact) *v1.PendingContact {
	return &v1.PendingContact{
		Kind:           convert.Enum[v1.ContactKind](v1.ContactKind_value, contactKindPrefix, p.Kind),
		Address:        p.Address,
		CodeExpireTime: convert.Timestamp(p.ExpiresAt),
	}
}

func contactKind(k v1.ContactKind) member.ContactKind {
	return convert.EnumName[member.ContactKind](contactKindPrefix, k)
}

func memberValue(m *v1.MemberInput) member.Member {
	return member.Member{
		Subject:  m.GetSubject(),
		Name:     m.GetName(),
		Email:    m.GetEmail(),
		Phone:    m.GetPhone(),
		Tier:     m.GetTier(),
		Tags:     m.GetTags(),
		Locale:   m.GetLocale(),
		TimeZone: m.GetTimeZone(),
		Notes:    m.GetNotes(),
	}
}

// editMember returns an edit that applies the fields named by an update mask.
func editMember(sent *v1.MemberInput, paths []string) func(*member.Member) error {
	return func(m *member.Member) error {
		from := memberValue(sent)
		convert.Fields{
			"subject":   convert.Field(&m.Subject, from.Subject),
			"name":      convert.Field(&m.Name, from.Name),
			"email":     convert.Field(&m.Email, from.Email),
			"phone":     convert.Field(&m.Phone, from.Phone),
			"tier":      convert.Field(&m.Tier, from.Tier),
			"tags":      convert.Field(&m.Tags, from.Tags),
			"locale":    convert.Field(&m.Locale, from.Locale),
			"time_zone": convert.Field(&m.TimeZone, from.TimeZone),
			"notes":     convert.Field(&m.Notes, from.Notes),
		}.Set(paths)
		return nil
	}
}

// editMe returns an edit that applies the fields named by an update mask.
func editMe(sent *v1.MeInput, paths []string) func(*member.Member) error {
	return func(m *member.Member) error {
		convert.Fields{
			"name":      convert.Field(&m.Name, sent.GetName()),
			"email":     convert.Field(&m.Email, sent.GetEmail()),
			"phone":     convert.Field(&m.Phone, sent.GetPhone()),
			"locale":    convert.Field(&m.Locale, sent.GetLocale()),
			"time_zone": convert.Field(&m.TimeZone, sent.GetTimeZone()),
		}.Set(paths)
		return nil
	}
}

func memberSearch(filter *v1.MemberFilter) member.Search {
	search := member.Search{
		Query: filter.GetQuery(), Role: filter.GetRole(), Tier: filter.GetTier(), Tag: filter.GetTag(),
		Import: convert.ID[tenant.ImportID](filter.GetImportId()), Invitable: filter.GetInvitable(),
	}
	for _, status := range filter.GetStatuses() {
		search.Statuses = append(search.Statuses, convert.EnumName[member.Status](memberStatusPrefix, status))
	}
	return search
}

func deviceSearch(filter *v1.DeviceFilter) member.DeviceSearch {
	search := member.DeviceSearch{Member: convert.ID[tenant.MemberID](filter.GetMemberId())}
	for _, kind := range filter.GetKinds() {
		search.Kinds = append(search.Kinds, convert.EnumName[member.DeviceKind](deviceKindPrefix, kind))
	}
	return search
}

func deviceMessage(d member.Device) *v1.Device {
	return &v1.Device{
		Id:           convert.IDText(d.ID),
		MemberId:     convert.IDText(d.Member),
		Kind:         convert.Enum[v1.DeviceKind](v1.DeviceKind_value, deviceKindPrefix, d.Kind),
		LastSeenTime: convert.Timestamp(d.SeenAt),
		CreateTime:   convert.Timestamp(d.CreatedAt),
	}
}

func addressChangeMessage(c *member.AddressChange) *v1.AddressChange {
	if c == nil {
		return nil
	}
	return &v1.AddressChange{
		OldEmail: c.From, NewEmail: c.To,
		CreateTime: convert.Timestamp(c.CreatedAt), AllowTime: convert.Timestamp(c.AllowedFrom()),
	}
}

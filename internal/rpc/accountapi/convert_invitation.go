package accountapi

import (
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

const invitationStatePrefix = "INVITATION_STATE_"

// invitationMessage converts an invitation, with what became of it until now.
func (s *Accounts) invitationMessage(i member.Invited) *v1.Invitation {
	return invitationMessage(i, i.State(s.Service.Now()))
}

// timeOf returns the zero time for none.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func invitationMessage(i member.Invited, state member.InvitationState) *v1.Invitation {
	return &v1.Invitation{
		Id:         convert.IDText(i.ID),
		MemberId:   convert.IDText(i.Member),
		MemberName: i.Name,
		Email:      i.Address,
		State:      convert.Enum[v1.InvitationState](v1.InvitationState_value, invitationStatePrefix, state),
		CreateTime: convert.Timestamp(i.CreatedAt),
		SendTime:   convert.Timestamp(i.SentAt),
		ExpireTime: convert.Timestamp(i.ExpiresAt),
		AcceptTime: convert.Timestamp(timeOf(i.AcceptedAt)),
		RevokeTime: convert.Timestamp(timeOf(i.RevokedAt)),
	}
}

func inviteeValue(i *v1.InvitationInput) accounts.Invitee {
	person := i.GetPerson()
	return accounts.Invitee{
		Member: convert.ID[tenant.MemberID](i.GetMemberId()),
		New: member.Member{
			Name: person.GetName(), Email: person.GetEmail(), Roles: person.GetRoles(), Locale: person.GetLocale(),
		},
	}
}

func invitationSearch(f *v1.InvitationFilter) member.InvitationSearch {
	return member.InvitationSearch{
		Member: convert.ID[tenant.MemberID](f.GetMemberId()),
		States: convert.EnumNames[member.InvitationState](invitationStatePrefix, f.GetStates()),
	}
}

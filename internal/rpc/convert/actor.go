package convert

import (
	"strings"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/tenant"
)

// ActorKindPrefix is the prefix of the kinds of actors.
const ActorKindPrefix = "ACTOR_KIND_"

// Actor converts an actor, as tenant.Caller.Actor writes it. The name is empty if the caller may not know it: see
// request.ActorNames. No actor becomes nil.
func Actor(text, name string) *v1.Actor {
	account, isAccount := strings.CutPrefix(text, tenant.AccountPrefix)
	_, err := tenant.Parse[tenant.MemberID](text)
	switch {
	case text == "":
		return nil
	case isAccount:
		return &v1.Actor{Kind: v1.ActorKind_ACTOR_KIND_SERVICE_ACCOUNT, Id: account, Name: name}
	case err == nil:
		return &v1.Actor{Kind: v1.ActorKind_ACTOR_KIND_MEMBER, Id: text, Name: name}
	}
	return &v1.Actor{Kind: v1.ActorKind_ACTOR_KIND_SYSTEM}
}

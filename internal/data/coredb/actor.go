package coredb

import (
	"strings"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// ActorName is the present name of an actor.
type ActorName struct{ Actor, Name string }

var actorNames = pg.ReadAs(func(n *ActorName) []pg.Column {
	return []pg.Column{pg.Read("n.actor", &n.Actor), pg.Read("n.name", &n.Name)}
}, func(n *ActorName) (ActorName, error) { return *n, nil })

var listActorNames = pg.SQL(`
select ` + actorNames.Columns() + ` from (
  select id::text as actor, name from members where tenant_id = $1 and id = any($2::uuid[])
  union all
  select '` + tenant.AccountPrefix + `' || id, name from service_accounts where tenant_id = $1 and id = any($3::uuid[])
) n`)

// ListActorNames reads the names of the members and service accounts among some actors.
func ListActorNames(b *pg.Batch, in tenant.TenantID, actors []string, into *[]ActorName) {
	var members []tenant.MemberID
	var accounts []tenant.ServiceAccountID
	for _, actor := range actors {
		if member, err := tenant.Parse[tenant.MemberID](actor); err == nil {
			members = append(members, member)
		}
		if account, err := tenant.Parse[tenant.ServiceAccountID](
			strings.TrimPrefix(actor, tenant.AccountPrefix),
		); err == nil {
			accounts = append(accounts, account)
		}
	}
	actorNames.List(b.Queue(listActorNames, in, members, accounts), into)
}

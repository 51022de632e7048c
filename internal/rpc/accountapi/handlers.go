// Package accountapi serves the RPCs about tenants, members, roles, service accounts, subscriptions and the audit log.
package accountapi

import (
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/token"
)

// Accounts handles the RPCs of the package.
type Accounts struct {
	Service *accounts.Service
	Guard   *access.Guard
	Issuer  *token.Issuer
}

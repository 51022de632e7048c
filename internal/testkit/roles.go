package testkit

import "github.com/berthhq/berth/internal/rules/grant"

// Account makes a service account, and gives it with its key.
func (h *House) Account(name string, roles ...string) (grant.ServiceAccount, string) {
	h.T.Helper()
	a, key, err := h.App.Accounts.CreateServiceAccount(h.T.Context(), h.Owner, grant.ServiceAccount{Name: name, Roles: roles})
	if err != nil {
		h.T.Fatal(err)
	}
	return a, key
}

// Package contacts sends codes with which members confirm their email addresses and phone numbers. It has the steps of
// use cases that accounts and messages share.
package contacts

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Codes makes and checks codes. The database has only keyed hashes of them. The zero Codes must not be used.
type Codes struct {
	Seals seal.Keys
	// Limits returns the limits of the channels that a tenant with these senders sends through the platform's accounts.
	Limits func(in tenant.TenantID, senders *messagedb.Sealed) notify.SendingLimits
}

// Code is a new code. It is made before a transaction, so that all attempts have the same.
type Code struct {
	text   string
	unsent string // what is stored as the code if it is not sent: nobody can know or guess it
	sealed []byte
}

// New returns a new code: six random digits.
func (c Codes) New(in tenant.TenantID) (Code, error) {
	number, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return Code{}, fmt.Errorf("contacts: new code: %w", err)
	}
	text := fmt.Sprintf("%06d", number)
	return Code{text, rand.Text(), c.Seals.Seal(in, []byte(text))}, nil
}

// addresses returns the keyed hashes of a contact's address.
func (c Codes) addresses(in tenant.TenantID, of member.Contact) [][]byte {
	return c.Seals.Hashes(in, "contact address", of.Key())
}

// hashes returns the keyed hashes of a code, which is good for one contact of one member only.
func (c Codes) hashes(in tenant.TenantID, owner tenant.MemberID, to member.Contact, code string) [][]byte {
	return c.Seals.Hashes(in, "contact code", fmt.Sprintf("%s %s %s %s", owner, to.Kind, code, to.Key()))
}

// Matches reports whether a text is the newest code of a contact.
func (c Codes) Matches(in tenant.TenantID, owner tenant.MemberID, p member.PendingContact, text string) bool {
	return slices.ContainsFunc(c.hashes(in, owner, p.Contact, text), func(hash []byte) bool {
		return hmac.Equal(hash, p.CodeHash)
	})
}

// CountGuesses reads how many wrong codes an address has got within a CodeDay, of all members together.
func (c Codes) CountGuesses(ctx context.Context, tx *engine.Tx, at member.Contact) (guesses int, err error) {
	var batch pg.Batch
	accountdb.CountGuesses(
		&batch, tx.Tenant, c.addresses(tx.Tenant, at), tx.Now.Add(-member.CodeDay), &guesses,
	)
	err = tx.Load(ctx, &batch)
	return guesses, err
}

// Ask makes a contact of a member pending and sends it a code, unless one that was sent before is still good. Again
// asks for a new one in any case. It reports whether there is a new one. The errors are CONTACT_COUNTRY,
// CONTACT_NOT_MOBILE and QUOTA_EXCEEDED.
func (c Codes) Ask(
	ctx context.Context, tx *engine.Tx, owner tenant.MemberID, to member.Contact, code Code, again bool,
) (pending member.PendingContact, made bool, err error) {
	addresses := c.addresses(tx.Tenant, to)
	facts, err := c.load(ctx, tx, owner, to, addresses)
	if err != nil {
		return pending, false, err
	}
	plan, err := member.RequestCode(to, facts, again, tx.Now)
	switch {
	case err != nil:
		return pending, false, err
	case !plan.Make:
		return *facts.Pending, false, nil
	}
	text := code.text
	if !plan.Send {
		text = code.unsent
	}
	pending = member.PendingContact{
		Contact: to, Code: tenant.NextID[tenant.CodeID](tx.IDs), CodeHash: c.hashes(tx.Tenant, owner, to, text)[0],
		ExpiresAt: tx.Now.Add(member.CodeLifetime),
	}
	if plan.Send {
		send(tx, notify.NewCode(
			owner, pending.Code, channels[to.Kind], to.Address, code.sealed, tx.Now, pending.ExpiresAt,
		))
	}
	accountdb.PutPendingContact(tx.Tx, tx.Tenant, owner, pending)
	accountdb.InsertCode(tx.Tx, tx.Tenant, owner, pending, addresses[0], plan.Send, tx.Now)
	record.Audit(tx, "contact.code_requested", "member", owner.UUID, "", map[string]any{"kind": string(to.Kind)})
	Changed(tx, owner)
	return pending, true, nil
}

// Tell sends a message to a contact of a member that is being changed.
func Tell(tx *engine.Tx, owner tenant.MemberID, old member.Contact) {
	if old.Address != "" {
		change := tenant.NextID[tenant.EventID](tx.IDs)
		send(tx, notify.OldContact(owner, change.UUID, channels[old.Kind], old.Address, tx.Now))
	}
}

// Changed appends the event that what is pending of a member has changed. Nodes that send messages look for notices
// then.
func Changed(tx *engine.Tx, owner tenant.MemberID) {
	record.Event(tx, outbox.Event{
		Member: owner, Data: event.MemberChanged{Changed: []string{"pending_contacts"}}, Facts: event.NoFacts,
	})
}

var channels = map[member.ContactKind]delivery.Channel{member.ByEmail: delivery.Email, member.ByPhone: delivery.SMS}

func send(tx *engine.Tx, n notify.Notice) {
	n.ID = tenant.NextID[tenant.NoticeID](tx.IDs)
	messagedb.InsertNotices(tx.Tx, tx.Tenant, []notify.Notice{n}, tx.Now, func(time.Time) {})
}

// load reads what the rule for codes needs to know.
func (c Codes) load(
	ctx context.Context, tx *engine.Tx, owner tenant.MemberID, to member.Contact, addresses [][]byte,
) (member.CodeFacts, error) {
	var facts member.CodeFacts
	var sending SendingFacts
	var senders *messagedb.Sealed
	var settings notify.Settings
	var zones []string
	var locale string
	all := make(map[tenant.MemberID][]member.PendingContact)
	since := tx.Now.Add(-member.CodeDay)
	var batch pg.Batch
	accountdb.ListPendingContacts(&batch, tx.Tenant, []tenant.MemberID{owner}, all)
	accountdb.CountCodesOf(&batch, tx.Tenant, owner, to.Kind, since, &facts.OfMember)
	accountdb.CountCodesTo(&batch, tx.Tenant, addresses, since, &facts.ToAddress)
	accountdb.ListZones(&batch, tx.Tenant, &zones, &locale)
	messagedb.FindNotificationSettings(&batch, tx.Tenant, &settings)
	messagedb.FindSenders(&batch, tx.Tenant, &senders)
	sending.Queue(&batch, tx.Tenant, to.Kind == member.ByPhone, tx.Now)
	if err := tx.Load(ctx, &batch); err != nil {
		return facts, err
	}
	facts.Pending = Pending(all[owner], to.Kind)
	facts.Countries = member.Countries(settings.PhoneCountries, zones, locale)
	sent := sending.Sending(tx.Tenant, c.Limits(tx.Tenant, senders), tx.Now)
	channel := channels[to.Kind]
	facts.Ceiling = sent.Ceiling(channel, notify.SendingCountry(channel, to.Address))
	return facts, nil
}

// Pending returns the pending contact of a kind; nil if there is none.
func Pending(all []member.PendingContact, kind member.ContactKind) *member.PendingContact {
	for i := range all {
		if all[i].Kind == kind {
			return &all[i]
		}
	}
	return nil
}

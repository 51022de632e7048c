package admission

// Steps 2, 3, 7 and 10: how often addresses, callers and tenants may call, and what waits for its turn.

import (
	"context"
	"errors"
	"sync"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// Rates limits the calls of each caller, of each tenant, and of each address without a proven caller. The zero value
// limits nothing.
type Rates struct {
	Caller, Tenant traffic.Rate
	// Reads are the reads of each tenant and of all that a server answers at a time. Others wait for their turn.
	Reads *traffic.Turns[tenant.TenantID]
	// Streams is how many streams a caller may have open. Zero is no limit.
	Streams   int
	Addresses *traffic.Addresses
	// Guesses limits the wrong membership numbers that a member tries, and ProgramGuesses those of a service account.
	Guesses, ProgramGuesses traffic.Rate
	// Domains limits how often each tenant sets or verifies a sending domain. That makes keys and asks name servers.
	Domains traffic.Rate
}

// callerKey is a person or a service account: one caller in all of their tenants.
// A key or link that proves itself has no issuer.
type callerKey struct{ issuer, subject string }

func keyOf(by token.Principal) callerKey { return callerKey{by.Issuer, by.Subject} }

// memberKey is a member or a service account of a tenant.
type memberKey struct {
	tenant  tenant.TenantID
	subject string
}

// rates takes each call from the limits that apply to it.
type rates struct {
	now       func() time.Time
	callers   *traffic.Limiter[callerKey]
	tenants   *traffic.Limiter[tenant.TenantID]
	streams   traffic.Counter[callerKey]
	reads     *traffic.Turns[tenant.TenantID]
	files     *traffic.Turns[tenant.TenantID]
	addresses *traffic.Addresses
	guesses   *traffic.Limiter[memberKey] // of members
	programs  *traffic.Limiter[memberKey] // guesses of service accounts
	domains   *traffic.Limiter[tenant.TenantID]
}

func newRates(c Rates, now func() time.Time) *rates {
	r := &rates{
		now: now, callers: traffic.NewLimiter[callerKey](c.Caller, now()),
		tenants: traffic.NewLimiter[tenant.TenantID](c.Tenant, now()), addresses: c.Addresses,
		reads: c.Reads, files: traffic.NewTurns[tenant.TenantID](1, maxFiles, maxWaitingFiles),
		guesses:  traffic.NewLimiter[memberKey](c.Guesses, now()),
		programs: traffic.NewLimiter[memberKey](c.ProgramGuesses, now()),
		domains:  traffic.NewLimiter[tenant.TenantID](c.Domains, now()),
	}
	r.streams.Max = c.Streams
	if r.addresses == nil {
		r.addresses = traffic.NewAddresses(traffic.Rate{}, nil, now)
	}
	return r
}

// takeCaller takes a call from its caller. It is the first thing that counts, whatever the rest of the request is.
func (r *rates) takeCaller(by token.Principal) error {
	if wait := r.callers.Take(keyOf(by), r.now()); wait > 0 {
		return fault.TooMany(wait, "Too many calls by this caller.")
	}
	return nil
}

// takeTenant takes a call from its tenant, once it is known. What the caller's limit rejects does not count for the
// tenant, so that one caller cannot use up what the others have.
func (r *rates) takeTenant(id tenant.TenantID, by token.Principal) error {
	if wait := r.tenants.Take(id, r.now()); wait > 0 {
		r.callers.Return(keyOf(by))
		return fault.TooMany(wait, "Too many calls in this tenant.")
	}
	return nil
}

// busy returns the error for a call that has to wait until others of its caller or tenant have ended.
func busy(sentence string) *fault.Error { return fault.TooMany(time.Second, sentence) }

// open counts a stream of a caller until release is called.
func (r *rates) open(by token.Principal) (release func(), err error) {
	release, ok := r.streams.Take(keyOf(by))
	if !ok {
		return nil, busy("This caller has too many streams open.")
	}
	return release, nil
}

// read waits for the turn of the caller's tenant. The turn ends when the response is ready to be sent.
func (r *rates) read(ctx context.Context) error {
	if r.reads == nil {
		return nil
	}
	leave, ok, err := r.reads.Enter(ctx, request.Caller(ctx).Tenant)
	if !ok {
		return busy("Too many reads of this tenant are waiting already.")
	}
	if err == nil {
		request.CallFrom(ctx).Ready = sync.OnceFunc(leave)
	}
	return err
}

// A file takes some tens of milliseconds of a processor to read and check. A tenant has one at a time.
const (
	maxFiles        = 8 // of all tenants at a time
	maxWaitingFiles = 4 // of a tenant
)

// file waits until the caller's tenant may have a file read. Call leave when that is done.
func (r *rates) file(ctx context.Context) (leave func(), err error) {
	leave, ok, err := r.files.Enter(ctx, request.Caller(ctx).Tenant)
	if !ok {
		err = busy("Too many files of this tenant are waiting already.")
	}
	return leave, err
}

// takeUnproven takes a call to a public RPC from its address, and gives it back if it turns out that the caller knows a
// valid key or link. If none is left, the message is read nevertheless: what the service made itself passes, so that
// who invents keys and links shuts out no one behind the same address. The answer of any other is held back, also if
// its message cannot be read.
func (c *Chain) takeUnproven(call *request.Call) {
	wait, proven := c.rates.addresses.Take(call.Client)
	call.Answered = func(err error) {
		if isProven(err) {
			proven()
		}
	}
	if wait > 0 {
		proven, call.HeldBack = func() {}, true
	}
	call.Prove = func(message any) error {
		made := c.made(message)
		if err := c.rates.takeMade(made); err != nil {
			return err
		}
		switch {
		case wait == 0:
			return nil
		case made == "":
			return errTooManyUnproven(wait)
		}
		wait, returned := c.rates.addresses.TakeMade(call.Client, made)
		if wait > 0 {
			return errTooManyUnproven(wait)
		}
		proven, call.HeldBack = returned, false
		return nil
	}
}

// takeMade takes a call from the key or link that proves itself: it is a caller of its own, since no other limit counts
// what is good. Empty is no key or link of ours.
func (r *rates) takeMade(made string) error {
	if made == "" {
		return nil
	}
	if wait := r.callers.Take(callerKey{subject: made}, r.now()); wait > 0 {
		return fault.TooMany(wait, "Too many calls with this key or link.")
	}
	return nil
}

// isProven reports whether the outcome of a public RPC proves that its caller knows a valid key or link. A call that
// failed otherwise, or whose caller has left, proves nothing.
func isProven(err error) bool {
	if err == nil || connect.IsNotModifiedError(err) {
		return true
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	switch f.Kind {
	case fault.Internal, fault.Unavailable, fault.Canceled, fault.DeadlineExceeded:
		return false
	default:
	}
	switch f.Reason {
	case fault.KeyInvalid, fault.LinkInvalid, fault.InvalidField, fault.RateLimited:
		return false
	default:
		return true
	}
}

// takeGuess takes a confirmation with a membership number of a benefit from what its caller may guess, and gives it
// back unless the number turns out to be wrong, or another member's. A program may guess more often: it confirms for
// many members. People who may book for others do not guess when they type the number of someone else.
func (r *rates) takeGuess(ctx context.Context, message any) (done func(err error), err error) {
	confirm, ok := message.(*v1.ConfirmBookingRequest)
	if !ok || confirm.BenefitMembershipNumber == "" {
		return func(error) {}, nil
	}
	by := request.Caller(ctx)
	guesses, caller := r.guesses, memberKey{by.Tenant, by.Subject}
	if by.Member.IsZero() {
		guesses = r.programs
	}
	if wait := guesses.Take(caller, r.now()); wait > 0 {
		return nil, fault.TooMany(wait, "Too many wrong membership numbers.").WithField("benefit_membership_number")
	}
	return func(err error) {
		reason := fault.ReasonOf(err)
		wrong := reason == fault.BenefitInvalid || reason == fault.BenefitInUse
		if !wrong || typedForOther(ctx, by, err) {
			guesses.Return(caller)
		}
	}, nil
}

const createForOthers = "booking.create_for_others"

// typedForOther reports whether a wrong membership number is someone else's, and was entered by a person who may book
// for others.
func typedForOther(ctx context.Context, by tenant.Caller, err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || by.Member.IsZero() || f.Owner == by.Actor() {
		return false
	}
	desk, err := request.CallerWith(ctx, createForOthers)
	return err == nil && !desk.SelfOnly
}

// takeDomain takes a call that sets or verifies a sending domain from what its tenant may.
func (r *rates) takeDomain(ctx context.Context, message any) error {
	switch m := message.(type) {
	case *v1.VerifySendingDomainRequest:
	case *v1.UpdateNotificationSendersRequest:
		if m.GetSenders().GetDomain() == nil {
			return nil
		}
	default:
		return nil
	}
	if wait := r.domains.Take(request.Caller(ctx).Tenant, r.now()); wait > 0 {
		return fault.TooMany(wait, "Too many attempts to verify a domain.")
	}
	return nil
}

// rejectToken returns the error for a token that was not accepted. An app may send a token that has expired: it renews
// the token then, and so may all apps behind one address.
func (r *rates) rejectToken(ctx context.Context, raw string, rejected error) error {
	if raw == "" || token.IsExpired(rejected) || fault.ReasonOf(rejected) != fault.UnauthenticatedReason {
		return rejected
	}
	if wait, _ := r.addresses.Take(request.CallFrom(ctx).Client); wait > 0 {
		return errTooManyUnproven(wait)
	}
	return rejected
}

func errTooManyUnproven(wait time.Duration) error {
	return fault.TooMany(wait, "Too many calls from this address with an invalid token, key or link.")
}

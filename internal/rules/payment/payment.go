// Package payment has the rules for the payment of a booking: facts become lines that are never changed, and the
// status is derived from them. Berth moves no money. The facts come from those who may record payments; a payment
// provider would report the same facts, and the lines would stay as they are.
package payment

import (
	"math"
	"regexp"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Kind is what a line records.
type Kind string

// The kinds.
const (
	Authorize Kind = "AUTHORIZED"  // the amount is reserved, but not captured
	Capture   Kind = "CAPTURED"    // the amount was received
	Refund    Kind = "REFUNDED"    // the amount was returned
	WriteOff  Kind = "WRITTEN_OFF" // the amount will not be asked for
)

// Status is the status of a booking's payment.
type Status string

// The statuses.
const (
	Unpaid     Status = "UNPAID"
	Authorized Status = "AUTHORIZED"
	Captured   Status = "CAPTURED" // also if a part was refunded
	Refunded   Status = "REFUNDED" // all that was captured
	WrittenOff Status = "WRITTEN_OFF"
)

// Facts are what is reported about money.
type Facts struct {
	Kind      Kind
	Amount    credit.Money
	Method    string // such as "card"
	Reference string // of the receipt, or of the provider's transaction
}

// Entry is a line of a booking's payment. It is never changed.
type Entry struct {
	ID      tenant.PaymentEntryID
	Booking tenant.BookingID
	Line    int // from 1, without gaps
	Facts
	// Captured and Refunded are the totals after this line. The database refuses a line with more refunded than captured.
	Captured credit.Money
	Refunded credit.Money
	Actor    string
	At       time.Time
}

// Payment is the state of a booking's payment, derived from its lines.
type Payment struct {
	Status Status
	// Amount is the captured total; before a capture, the last amount that was authorized or written off.
	Amount   credit.Money
	Refunded credit.Money // the refunded total
	Method   string       // of the last authorization or capture
	PaidAt   *time.Time   // of the first authorization or capture
}

// Of derives the payment from the lines of a booking, in their order.
func Of(entries []Entry) Payment {
	p := Payment{Status: Unpaid}
	var refunded bool
	for _, e := range entries {
		switch e.Kind {
		case Authorize:
			if p.Status != Captured {
				p.Status, p.Amount = Authorized, e.Amount
			}
		case Capture:
			p.Status, p.Amount = Captured, e.Captured
		case WriteOff:
			if p.Status != Captured {
				p.Status, p.Amount = WrittenOff, e.Amount
			}
		case Refund:
			refunded, p.Refunded = true, e.Refunded
		}
		if p.PaidAt == nil && (e.Kind == Authorize || e.Kind == Capture) {
			p.PaidAt = new(e.At)
		}
		if e.Kind == Authorize || e.Kind == Capture {
			p.Method = e.Method
		}
	}
	if refunded && p.Status == Captured && p.Refunded == p.Amount {
		p.Status = Refunded
	}
	return p
}

// Record decides on facts that are not a refund. It returns nil if a line has the same facts: two payments that look
// alike are told apart by their references.
func Record(entries []Entry, f Facts, of tenant.BookingID, actor string, now time.Time) (*Entry, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Facts == f {
			return nil, nil
		}
	}
	return next(entries, f, of, actor, now)
}

// Return decides on a refund, of at most what was captured and not refunded. It returns nil if a line has the same
// facts and a reference. Without a reference two refunds of one amount are two refunds.
func Return(entries []Entry, f Facts, of tenant.BookingID, actor string, now time.Time) (*Entry, error) {
	f.Kind = Refund
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if f.Amount.Units == 0 && f.Amount.Nanos == 0 {
		return nil, fault.Invalid(f.field(), "A refund must be more than zero.")
	}
	for _, e := range entries {
		if f.Reference != "" && e.Facts == f {
			return nil, nil
		}
	}
	return next(entries, f, of, actor, now)
}

// next makes the line that follows the others.
func next(entries []Entry, f Facts, of tenant.BookingID, actor string, now time.Time) (*Entry, error) {
	none := credit.Money{Currency: f.Amount.Currency}
	e := Entry{
		Booking: of, Line: len(entries) + 1, Facts: f, Captured: none, Refunded: none, Actor: actor, At: now,
	}
	if len(entries) > 0 {
		last := entries[len(entries)-1]
		if last.Amount.Currency != f.Amount.Currency {
			return nil, fault.Invalid(
				f.field()+".currency_code", "The booking's payments are in %s.", last.Amount.Currency,
			)
		}
		e.Captured, e.Refunded = last.Captured, last.Refunded
	}
	fits := true
	switch f.Kind {
	case Capture:
		e.Captured, fits = add(e.Captured, f.Amount)
	case Refund:
		e.Refunded, fits = add(e.Refunded, f.Amount)
		if fits && less(e.Captured, e.Refunded) {
			return nil, fault.New(fault.FailedPrecondition, fault.RefundExceedsCaptured,
				"The refund is more than what was captured and not refunded yet.").WithField(f.field())
		}
	case Authorize, WriteOff: // they move no money
	}
	if !fits {
		return nil, fault.Invalid(f.field(), "The sum of the amounts is too large.")
	}
	return &e, nil
}

var currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)

// Validate rejects an invalid amount: INVALID_FIELD.
func (f Facts) Validate() error {
	switch {
	case !currencyPattern.MatchString(f.Amount.Currency):
		return fault.Invalid(f.field()+".currency_code", "A currency is three capital letters (ISO 4217).")
	case f.Amount.Units < 0 || f.Amount.Nanos < 0 || f.Amount.Nanos >= billion:
		return fault.Invalid(f.field(),
			"An amount must not be negative, and its nanos must be below 1,000,000,000.")
	}
	return nil
}

// field names the amount in the request.
func (f Facts) field() string {
	if f.Kind == Refund {
		return "amount"
	}
	return "payment.amount"
}

const billion = 1_000_000_000

// add returns the sum of two amounts, or false if it does not fit.
func add(a, b credit.Money) (credit.Money, bool) {
	carry := int64(a.Nanos+b.Nanos) / billion
	if a.Units > math.MaxInt64-b.Units-carry {
		return a, false
	}
	a.Units += b.Units + carry
	a.Nanos = (a.Nanos + b.Nanos) % billion
	return a, true
}

func less(a, b credit.Money) bool {
	return a.Units < b.Units || a.Units == b.Units && a.Nanos < b.Nanos
}

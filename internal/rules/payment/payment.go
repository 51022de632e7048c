// Package payment has the rules for the payment of a booking: facts become lines that are never changed, and the
// status is derived from them. Berth moves no money. The facts come from those who may record payments; a payment
// provider would report the same facts, and the lines would stay as they are.
package payment

import (
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Kind is what a line records.
type Kind string

// The kinds.
const (
	Authorize Kind = "AUTHORIZATION" // the amount is reserved, but not captured
	Capture   Kind = "CAPTURE"       // the amount was received
	Refund    Kind = "REFUND"        // the amount was returned
	WriteOff  Kind = "WRITE_OFF"     // the amount will not be asked for
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

// Line is a line of a booking's payment. It is never changed.
type Line struct {
	ID      tenant.PaymentLineID
	Booking tenant.BookingID
	Number  int // from 1, without gaps
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
	// ToRefund is what came in after the booking had ended, and was not refunded: nobody keeps it.
	ToRefund credit.Money
	Method   string     // of the last authorization or capture
	PaidAt   *time.Time // of the first authorization or capture
}

// Of derives the payment from the lines of a booking, in their order. Ended is when it was cancelled or expired; nil if
// it was not.
func Of(lines []Line, ended *time.Time) Payment {
	p := Payment{Status: Unpaid}
	var refunded bool
	var captured, owed credit.Money // owed: what came after the booking had ended, and was not refunded since
	for _, l := range lines {
		switch l.Kind {
		case Authorize:
			if p.Status != Captured {
				p.Status, p.Amount = Authorized, l.Amount
			}
		case Capture:
			p.Status, p.Amount = Captured, l.Captured
			if ended != nil && !l.At.Before(*ended) {
				owed, _ = add(sub(l.Captured, captured), owed) // not above what is captured, so it fits
			}
			captured = l.Captured
		case WriteOff:
			if p.Status != Captured {
				p.Status, p.Amount = WrittenOff, l.Amount
			}
		case Refund:
			if back := sub(l.Refunded, p.Refunded); less(back, owed) { // a refund returns first what came late
				owed = sub(owed, back)
			} else {
				owed = credit.Money{}
			}
			refunded, p.Refunded = true, l.Refunded
		}
		if p.PaidAt == nil && (l.Kind == Authorize || l.Kind == Capture) {
			p.PaidAt = new(l.At)
		}
		if l.Kind == Authorize || l.Kind == Capture {
			p.Method = l.Method
		}
	}
	if refunded && p.Status == Captured && p.Refunded == p.Amount {
		p.Status = Refunded
	}
	if p.Status == Captured {
		p.ToRefund = owed
	}
	return p
}

// Due says why nothing is ever due for a booking.
type Due string

// The reasons. The zero value: money may be due.
const (
	PaidByPlan Due = "plan"
	Waived     Due = "write_off"
)

// Record decides on facts that are not a refund. It returns nil if a line has the same facts and a reference. Without a
// reference two payments of one amount are two payments: friends pay the same. Where nothing is ever due, it refuses:
// NOTHING_DUE.
func Record(lines []Line, f Facts, never Due, of tenant.BookingID, actor string, now time.Time) (*Line, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if f.Reference != "" && Known(lines, f) {
		return nil, nil
	}
	if never != "" {
		return nil, fault.New(fault.FailedPrecondition, fault.NothingDue, "Nothing is due for the booking.").
			WithMetadata("paid_by", string(never))
	}
	return next(lines, f, of, actor, now)
}

// Known reports whether a line has the same facts.
func Known(lines []Line, f Facts) bool {
	return slices.ContainsFunc(lines, func(l Line) bool { return l.Facts == f })
}

// Return decides on a refund, of at most what was captured and not refunded. It returns nil if a line has the same
// facts and a reference. Without a reference two refunds of one amount are two refunds.
func Return(lines []Line, f Facts, of tenant.BookingID, actor string, now time.Time) (*Line, error) {
	f.Kind = Refund
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if f.Amount.Units == 0 && f.Amount.Nanos == 0 {
		return nil, fault.Invalid(f.field(), "A refund must be more than zero.")
	}
	if f.Reference != "" && Known(lines, f) {
		return nil, nil
	}
	return next(lines, f, of, actor, now)
}

// next makes the line that follows the others.
func next(lines []Line, f Facts, of tenant.BookingID, actor string, now time.Time) (*Line, error) {
	none := credit.Money{Currency: f.Amount.Currency}
	l := Line{
		Booking: of, Number: len(lines) + 1, Facts: f, Captured: none, Refunded: none, Actor: actor, At: now,
	}
	if len(lines) > 0 {
		last := lines[len(lines)-1]
		if last.Amount.Currency != f.Amount.Currency {
			return nil, fault.Invalid(
				f.field()+".currency_code", "The booking's payments are in %s.", last.Amount.Currency,
			)
		}
		l.Captured, l.Refunded = last.Captured, last.Refunded
	}
	fits := true
	switch f.Kind {
	case Capture:
		l.Captured, fits = add(l.Captured, f.Amount)
	case Refund:
		l.Refunded, fits = add(l.Refunded, f.Amount)
		if fits && less(l.Captured, l.Refunded) {
			return nil, fault.New(fault.FailedPrecondition, fault.RefundExceedsCaptured,
				"The refund is more than what was captured and not refunded yet.").WithField(f.field())
		}
	case Authorize, WriteOff: // they move no money
	}
	if !fits {
		return nil, fault.Invalid(f.field(), "The sum of the amounts is too large.")
	}
	return &l, nil
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

// sub returns the difference of two amounts, of which a is not the smaller one.
func sub(a, b credit.Money) credit.Money {
	a.Units, a.Nanos = a.Units-b.Units, a.Nanos-b.Nanos
	if a.Nanos < 0 {
		a.Units, a.Nanos = a.Units-1, a.Nanos+billion
	}
	return a
}

func less(a, b credit.Money) bool {
	return a.Units < b.Units || a.Units == b.Units && a.Nanos < b.Nanos
}

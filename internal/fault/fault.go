// Package fault describes what went wrong in words that may leave the house.
// A fault has a kind (how a client should react), a public reason (what a
// client branches on), metadata, and a private cause that is logged and never sent.
package fault

import (
	"errors"
	"fmt"
	"maps"
)

// Kind is the class of a fault; the wire maps each to one status code.
type Kind uint8

// The kinds, as the wire's codes name them.
const (
	Internal           Kind = iota // a bug or a broken dependency: nobody else's business
	InvalidArgument                // the request can never work
	NotFound                       // absent, deleted, or another tenant's
	AlreadyExists                  // a thing with that key is there
	PermissionDenied               // the caller may not
	Unauthenticated                // who is calling is not known
	FailedPrecondition             // not in this state
	ResourceExhausted              // something is used up
	Aborted                        // someone else was faster; read again and decide
	Unavailable                    // safe to try again
	Canceled                       // the caller left
	DeadlineExceeded               // out of time
)

// Error is a fault. Build it with New and its With methods; they copy, so a
// package-level Error can be extended safely.
type Error struct {
	Kind     Kind
	Reason   Reason
	Message  string            // a full sentence for people; it may change
	Metadata map[string]string // facts for programs, such as a limit or a time in RFC 3339
	Field    string            // the request's field that is wrong, if one is
	cause    error
}

// New makes a fault.
func New(kind Kind, reason Reason, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// With adds a fact for programs.
func (e *Error) With(key, value string) *Error {
	c := *e
	c.Metadata = maps.Clone(e.Metadata)
	if c.Metadata == nil {
		c.Metadata = make(map[string]string, 1)
	}
	c.Metadata[key] = value
	return &c
}

// In names the request's field that is wrong.
func (e *Error) In(field string) *Error {
	c := *e
	c.Field = field
	return &c
}

// Because keeps the cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error gives reason and sentence, and the cause, for the log.
func (e *Error) Error() string {
	text := string(e.Reason) + ": " + e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap gives the private cause.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is compare reasons: errors.Is(err, fault.New(k, r, "")) holds
// for every fault of that reason.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason
}

// ReasonOf gives the reason of a fault anywhere in the chain, or "".
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// Missing says that a thing is absent, deleted, or belongs to someone whose
// things the caller must not know of: the three look the same.
func Missing(reason Reason, what string) *Error {
	return New(NotFound, reason, "%s not found.", what)
}

// Invalid says that a request's field can never work.
func Invalid(field, format string, args ...any) *Error {
	return New(InvalidArgument, InvalidField, format, args...).In(field)
}

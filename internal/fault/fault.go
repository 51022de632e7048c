// Package fault has the errors that clients may see. An Error has a kind (how a client should react), a public reason
// (what a client branches on), metadata, and a private cause, which is logged and never sent.
package fault

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"
)

// Kind is the class of an error. Each maps to one status code of the protocol.
type Kind uint8

// The kinds, named like the status codes of Connect and gRPC.
const (
	Internal           Kind = iota // a bug or a broken dependency; clients see no details
	InvalidArgument                // the request can never work
	NotFound                       // absent, deleted, or in another tenant
	AlreadyExists                  // something with this key exists
	PermissionDenied               // the caller lacks a permission
	Unauthenticated                // the caller is unknown
	FailedPrecondition             // not possible in the current state
	ResourceExhausted              // a limit is reached
	Aborted                        // a concurrent change won; read again and decide
	Unavailable                    // safe to retry
	Canceled                       // the caller canceled the request
	DeadlineExceeded               // the request's deadline passed
)

// Error is an error that a client may see. Build it with New, WithMetadata, WithField, OwnedBy and WithCause. They
// copy, so a package-level Error can be extended safely.
type Error struct {
	Kind     Kind
	Reason   Reason
	Message  string            // a full sentence for people; it may change
	Metadata map[string]string // facts for programs, such as a limit or a time in RFC 3339
	Field    string            // the invalid field of the request, if there is one
	Owner    string            // whose what the metadata names is, as tenant.Caller.Actor writes it; never sent
	cause    error
}

// New returns an Error with a formatted message.
func New(kind Kind, reason Reason, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// WithMetadata returns a copy with another entry in Metadata.
func (e *Error) WithMetadata(key, value string) *Error {
	c := *e
	c.Metadata = maps.Clone(e.Metadata)
	if c.Metadata == nil {
		c.Metadata = make(map[string]string, 1)
	}
	c.Metadata[key] = value
	return &c
}

// WithField returns a copy that names the invalid field of the request.
func (e *Error) WithField(field string) *Error {
	c := *e
	c.Field = field
	return &c
}

// OwnedBy returns a copy that says whose the objects are that the metadata names. They show to their owner, and to
// those who may read all.
func (e *Error) OwnedBy(owner string) *Error {
	c := *e
	c.Owner = owner
	return &c
}

// WithCause returns a copy with a private cause, for the log.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns the reason, the message and the cause, for the log.
func (e *Error) Error() string {
	text := string(e.Reason) + ": " + e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is compare reasons: errors.Is(err, fault.New(k, r, "")) holds for every Error with that reason.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason
}

// ReasonOf returns the reason of the first Error in the chain, or "".
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// Missing means that something does not exist, was deleted, or is hidden from the caller. The three look the same,
// so that the response does not reveal what exists.
func Missing(reason Reason, what string) *Error {
	return New(NotFound, reason, "%s not found.", what)
}

// MissingPermission returns the error for a caller without a permission beyond the one that the RPC requires.
func MissingPermission(permission string) *Error {
	return New(PermissionDenied, PermissionDeniedReason, "Your roles do not allow that.").
		WithMetadata("permission", permission)
}

// Own means that others have to do what the caller asks for, because it is about something of the caller's own.
func Own(sentence string) *Error {
	return New(PermissionDenied, PermissionDeniedReason, "%s", sentence).WithMetadata("own", "true")
}

// Invalid means that a field of the request can never work.
func Invalid(field, format string, args ...any) *Error {
	return New(InvalidArgument, InvalidField, format, args...).WithField(field)
}

// OverQuota means that there may be no more of something. Its metadata names the quota and its limit.
func OverQuota(quota string, limit int, format string, args ...any) *Error {
	return New(ResourceExhausted, QuotaExceeded, format, args...).
		WithMetadata("quota", quota).WithMetadata("limit", strconv.Itoa(limit))
}

// RetryAfter is the entry in Metadata with the number of seconds after which a call may be sent again.
const RetryAfter = "retry_after"

// TooMany means that a caller sends too many calls, and may send the next one after a while.
func TooMany(wait time.Duration, sentence string) *Error {
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	return New(ResourceExhausted, RateLimited, "%s Try again in %d s.", sentence, seconds).
		WithMetadata(RetryAfter, strconv.Itoa(seconds))
}

package delivery

import (
	"fmt"
	"strings"
	"time"
)

// FailureKind is the class of a failure to send.
type FailureKind string

// The kinds.
const (
	Transient     FailureKind = "TRANSIENT"     // not sent; retry later
	Permanent     FailureKind = "PERMANENT"     // this message can never be delivered
	Unregistered  FailureKind = "UNREGISTERED"  // the token or number no longer exists: delete it
	OptedOut      FailureKind = "OPTED_OUT"     // the recipient told the provider to stop
	Misconfigured FailureKind = "MISCONFIGURED" // the sender's account or settings are wrong: all messages fail
	Unknown       FailureKind = "UNKNOWN"       // a request got no answer: the message may have been sent
)

// Error is why a message was not sent, or may not have been sent.
type Error struct {
	Kind       FailureKind
	Code       string        // of the provider
	RetryAfter time.Duration // the wait that the provider asks for; 0: none
	Reason     string        // for people, without personal data
	Err        error
}

// Error returns the kind, code and reason.
func (e *Error) Error() string {
	text := strings.ToLower(string(e.Kind))
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Err != nil {
		text = fmt.Sprintf("%s: %v", text, e.Err)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// OfProvider reports whether the provider or its account was at fault, and the message certainly was not sent.
func (e *Error) OfProvider() bool {
	return e != nil && (e.Kind == Transient || e.Kind == Misconfigured)
}

// Expired means that a message expired before it was sent.
func Expired() *Error {
	return &Error{Kind: Permanent, Code: "EXPIRED", Reason: "it expired before it was sent"}
}

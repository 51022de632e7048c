package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/delivery"
)

// gone are the enhanced status codes of addresses that will never work
// (RFC 3463 sections 3.2 and 3.3, RFC 7505 section 4.2).
var gone = map[string]bool{
	"5.1.1":  true, // no such mailbox
	"5.1.2":  true, // no such system
	"5.1.3":  true, // bad syntax
	"5.1.6":  true, // moved, without an address
	"5.1.10": true, // its domain accepts no mail
	"5.2.1":  true, // disabled
}

// stale reports whether an idle connection turned out to be dead before any part of the message was sent.
func stale(err error) bool {
	var failed *gomail.SendError
	return errors.As(err, &failed) && failed.Reason == gomail.ErrConnCheck
}

// unreachable is the failure if no connection could be made.
func unreachable(err error) *delivery.Error {
	result := &delivery.Error{
		Kind: delivery.Misconfigured, Reason: "the mail server does not accept mail from this account", Err: err,
	}
	var reply *textproto.Error
	var network net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, provider.ErrNotPublic), errors.As(err, &name) && name.IsNotFound:
		// Reveal nothing about private names and addresses, not even whether they exist.
		result.Code, result.Reason = "PRIVATE_ADDRESS", "the mail server has no public address"
		result.Err = provider.ErrNotPublic
	case errors.As(err, &certificate):
		result.Code, result.Reason = "CERTIFICATE", "the certificate of the mail server is not valid for its name"
	case errors.As(err, &reply):
		result.Code = strconv.Itoa(reply.Code)
		if reply.Code/100 == 4 {
			result.Kind, result.Reason = delivery.Transient, "the mail server is not available"
		}
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		result.Kind, result.Reason = delivery.Transient, "the mail server cannot be reached"
	}
	return result
}

// failure says what an error during a session means.
func failure(err error, to string) *delivery.Error {
	var failed *gomail.SendError
	if !errors.As(err, &failed) {
		return &delivery.Error{Kind: delivery.Unknown, Reason: "the connection broke", Err: err}
	}
	result := &delivery.Error{Kind: delivery.Permanent, Code: code(failed)}
	switch {
	case failed.Reason == gomail.ErrNoUnencoded:
		result.Kind = delivery.Misconfigured
	case failed.ErrorCode() == 0 && failed.Reason == gomail.ErrSMTPDataClose:
		// The whole mail was sent. The server may have accepted it.
		result.Kind, result.Reason, result.Err = delivery.Unknown, "no answer", err
		return result
	case failed.ErrorCode() == 0:
		// A server does not accept a mail without its end (RFC 5321 section 4.1.1.4).
		result.Kind, result.Reason, result.Err = delivery.Transient, "the connection broke", err
		return result
	case failed.ErrorCode()/100 == 4:
		result.Kind = delivery.Transient
	case failed.Reason == gomail.ErrSMTPMailFrom:
		result.Kind = delivery.Misconfigured
	case failed.Reason == gomail.ErrSMTPRcptTo && unknownMailbox(failed), gone[failed.EnhancedStatusCode()]:
		result.Kind = delivery.Unregistered // some servers check the mailbox only after the mail was sent
	}
	result.Reason = reason(failed, to)
	return result
}

// unknownMailbox uses the enhanced status code, or the reply code if there is none:
// 550, 551 and 553 are about the mailbox (RFC 5321 section 4.2.3).
func unknownMailbox(failed *gomail.SendError) bool {
	if enhanced := failed.EnhancedStatusCode(); enhanced != "" {
		return gone[enhanced]
	}
	switch failed.ErrorCode() {
	case 550, 551, 553:
		return true
	default:
		return false
	}
}

func code(failed *gomail.SendError) string {
	if failed.ErrorCode() == 0 {
		return ""
	}
	return strings.TrimSpace(strconv.Itoa(failed.ErrorCode()) + " " + failed.EnhancedStatusCode())
}

// reason is what the server said, without the recipient's address.
func reason(failed *gomail.SendError, to string) string {
	said, _, _ := strings.Cut(failed.Error(), ", affected ")
	said = strings.ReplaceAll(said, to, "the recipient")
	return strings.Join(strings.Fields(said), " ")
}

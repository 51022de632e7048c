package smtp

import (
	"bytes"
	"net/mail"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/berthhq/berth/internal/rules/delivery"
)

const calendarFile = "invite.ics"

// messageID is the same for each attempt to send a message, so servers and mail clients recognize duplicates.
func (s *Sender) messageID(m delivery.Message) string { return m.ID.String() + "@" + s.domain }

// compose builds a mail: text, HTML and calendar as alternatives, and the calendar also as an attachment,
// for clients that need one.
func (s *Sender) compose(m delivery.Message, now time.Time) (*gomail.Msg, error) {
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	to, err := address(delivery.Mailbox{Name: m.ToName, Address: m.To})
	if err != nil {
		return nil, &delivery.Error{
			Kind: delivery.Unregistered, Code: "5.1.3", Reason: "the recipient's address is not valid",
		}
	}
	out.ToMailAddress(to)
	from := m.From
	if from.Address == "" {
		from = s.config.From
	}
	for _, part := range []struct {
		box  delivery.Mailbox
		name string
		set  func(*mail.Address)
	}{
		{from, "sender's", out.FromMailAddress},
		{s.config.From, "account's", out.EnvelopeFromMailAddress},
		{m.ReplyTo, "reply", func(a *mail.Address) { out.ReplyToMailAddress(a) }},
	} {
		if part.box.Address == "" {
			continue
		}
		a, err := address(part.box)
		if err != nil {
			return nil, &delivery.Error{
				Kind: delivery.Misconfigured, Code: "5.1.7", Reason: "the " + part.name + " address is not valid", Err: err,
			}
		}
		part.set(a)
	}
	out.Subject(m.Subject)
	out.SetDateWithValue(now)
	out.SetMessageIDWithValue(s.messageID(m))
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office replies
	if m.Unsubscribe != "" {
		if err := out.SetListUnsubscribeOneClick(m.Unsubscribe); err != nil {
			return nil, &delivery.Error{Kind: delivery.Permanent, Reason: "the unsubscribe URL is not valid", Err: err}
		}
	}

	out.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		out.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	if c := m.Calendar; c != nil {
		kind := gomail.ContentType("text/calendar; method=" + string(c.Method))
		out.AddAlternativeString(kind, string(c.Body), gomail.WithPartEncoding(gomail.EncodingB64))
		file := gomail.WithFileContentType("application/ics")
		if err := out.AttachReader(calendarFile, bytes.NewReader(c.Body), file); err != nil {
			return nil, &delivery.Error{Kind: delivery.Permanent, Reason: "the calendar cannot be attached", Err: err}
		}
	}
	if m.DKIM != nil {
		if err := sign(out, *m.DKIM); err != nil {
			return nil, &delivery.Error{Kind: delivery.Misconfigured, Reason: "the mail cannot be signed", Err: err}
		}
	}
	return out, nil
}

// address parses an address without a name.
func address(box delivery.Mailbox) (*mail.Address, error) {
	a, err := mail.ParseAddress("<" + box.Address + ">")
	if err != nil {
		return nil, err
	}
	a.Name = box.Name
	return a, nil
}

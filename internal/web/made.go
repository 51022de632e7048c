package web

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/provider/twilio"
)

// made returns the link or the cookie of a request, or Twilio's signature, if the service or Twilio made it, whether or
// not it is still good, and otherwise "". It takes microseconds and looks nothing up, so it can be asked about any
// request.
func (c Config) made(r *http.Request) string {
	for _, kind := range []struct {
		path, end string
		isMade    func(link string) bool
	}{
		{bookings.DisplayPath, "", c.Services.Bookings.MadeDisplay},
		{waitlists.ClaimPath, "", c.Services.Waitlists.MadeClaim},
		{accounts.ConfirmPath, "", c.Services.Accounts.MadeContactLink},
		{accounts.InvitePath, "", c.Services.Accounts.MadeInvitationLink},
		{accounts.AddressPath, "", c.Services.Accounts.MadeAddressLink},
		{messages.CalendarPath, ".ics", c.Services.Messages.MadeCalendarFeed},
		{messages.UnsubscribePath, "", c.Services.Messages.MadeUnsubscribe},
	} {
		if link, ok := strings.CutPrefix(r.URL.Path, kind.path); ok {
			link = strings.TrimSuffix(link, kind.end)
			if kind.isMade(link) {
				return link
			}
			return ""
		}
	}
	if strings.HasPrefix(r.URL.Path, AuthPath) {
		cookie := newSignInCookie(c.PublicURL, c.Services.SignIns)
		if _, err := cookie.read(r); err == nil {
			return cookie.text(r)
		}
		return newBrowserCookie(c.PublicURL, c.Services.SignIns).made(r)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, messages.TwilioPath), "/")
	if name == platformNumber {
		return c.platformSignature(r)
	}
	if _, made, err := c.Services.Messages.ReadWebhook(name); err == nil && made {
		return name
	}
	return ""
}

// platformSignature returns Twilio's signature of a call for the platform's number if it is right. Then r can be read
// once more.
func (c Config) platformSignature(r *http.Request) string {
	var body bytes.Buffer
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r.Body, &body), r.Body}
	if _, err := c.webhook(c.TwilioToken()).Read(r); err != nil {
		return ""
	}
	r.Body = io.NopCloser(&body)
	return r.Header.Get(twilio.SignatureHeader)
}

package smtptest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"github.com/emersion/go-msgauth/dkim"
)

// Mail is a parsed mail that the server accepted.
type Mail struct {
	From   string // From and To are those of the envelope
	To     []string
	Header mail.Header
	Parts  []Part // the leaf parts in order
	Raw    []byte
}

// Part is a leaf of a mail's MIME tree.
type Part struct {
	Inside      string // the enclosing multipart types, outermost first: "mixed/alternative"
	Type        string
	Params      map[string]string
	Disposition string // empty: none
	Filename    string
	Body        string // decoded
}

// Text returns a decoded header.
func (m Mail) Text(name string) string {
	text, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get(name))
	if err != nil {
		return err.Error()
	}
	return text
}

// Part returns the first part of a type.
func (m Mail) Part(kind string) (Part, bool) {
	for _, p := range m.Parts {
		if p.Type == kind {
			return p, true
		}
	}
	return Part{}, false
}

// Signers returns the domains that have signed the mail (DKIM), by the keys that lookupTXT finds.
func (m Mail) Signers(lookupTXT func(name string) ([]string, error)) ([]string, error) {
	crlf := bytes.ReplaceAll(m.Raw, []byte("\n"), []byte("\r\n")) // the lines as they were sent
	signatures, err := dkim.VerifyWithOptions(bytes.NewReader(crlf), &dkim.VerifyOptions{LookupTXT: lookupTXT})
	var domains []string
	for _, s := range signatures {
		domains, err = append(domains, s.Domain), errors.Join(err, s.Err)
	}
	return domains, err
}

func parse(raw []byte) (Mail, error) {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Mail{}, err
	}
	m := Mail{Header: message.Header, Raw: raw}
	err = m.walk("", textproto.MIMEHeader(message.Header), message.Body)
	return m, err
}

func (m *Mail) walk(inside string, header textproto.MIMEHeader, body io.Reader) error {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type %q: %w", header.Get("Content-Type"), err)
	}
	if sub, ok := strings.CutPrefix(kind, "multipart/"); ok {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if err := m.walk(strings.TrimPrefix(inside+"/"+sub, "/"), part.Header, part); err != nil {
				return err
			}
		}
	}
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	decoded, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	p := Part{Inside: inside, Type: kind, Params: params, Body: string(decoded)}
	if text := header.Get("Content-Disposition"); text != "" {
		disposition, params, err := mime.ParseMediaType(text)
		if err != nil {
			return err
		}
		p.Disposition, p.Filename = disposition, params["filename"]
	}
	m.Parts = append(m.Parts, p)
	return nil
}

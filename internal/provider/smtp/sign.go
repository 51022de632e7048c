package smtp

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"strings"

	"github.com/emersion/go-msgauth/dkim"
	gomail "github.com/wneessen/go-mail"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// signature is the header with a mail's signature. go-mail's own signatures are wrong if they have to be folded.
const signature = "DKIM-Signature"

// signedHeaders are the headers that a signature covers, also where a mail has none. Those that readers see are listed
// once more, so that no second one can be added on the way.
var signedHeaders = []string{
	"From", "From", "To", "Reply-To", "Subject", "Subject", "Date", "Message-ID", "Auto-Submitted", "List-Unsubscribe",
	"List-Unsubscribe-Post", "MIME-Version", "Content-Type", "Content-Transfer-Encoding",
}

// sign signs a complete mail. It is written in the same way later: go-mail keeps the boundaries of its parts.
func sign(mail *gomail.Msg, d delivery.DKIM) error {
	parsed, err := x509.ParsePKCS8PrivateKey(d.Key)
	if err != nil {
		return err
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return errors.New("not an RSA key")
	}
	signer, err := dkim.NewSigner(&dkim.SignOptions{
		Domain: d.Domain, Selector: d.Selector, Signer: key, HeaderKeys: signedHeaders,
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
	})
	if err != nil {
		return err
	}
	_, err = mail.WriteTo(signer)
	if err = errors.Join(err, signer.Close()); err != nil {
		return err
	}
	value := strings.TrimPrefix(signer.Signature(), signature+":")
	mail.SetGenHeaderPreformatted(signature, strings.TrimSpace(value))
	return nil
}

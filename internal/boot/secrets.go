package boot

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/berthhq/berth/internal/provider/fcm"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/secret"
	"github.com/berthhq/berth/internal/token"
)

// Secrets are the secrets of a node, except for those that sign tokens. They follow their source while Run runs.
type Secrets struct {
	CheckIn checkin.Keys      // QR codes and display links
	Claims  waitlist.ClaimKey // links of waitlist offers
	Seals   seal.Keys         // sealed columns, and links in mails
	// Twilio, SMTP and FCM give the credentials of the platform's accounts; nil if they are variables or there is none.
	Twilio, SMTP, FCM *secret.Credential

	all []secret.Follower
}

// Files returns the files with the secrets. Those of the keys are made by berth keys new, and in development.
func (c KeyConfig) Files() secret.Files {
	return secret.Files{
		secret.Signing: c.signingKeyFile(), secret.CheckIn: c.checkInKeyFile(), secret.Messages: c.messageKeyFile(),
		secret.Twilio: c.Senders.TwilioTokenFile, secret.SMTP: c.Senders.SMTPPasswordFile, secret.FCM: c.Senders.FCMKey,
	}
}

// OpenSecrets reads the secrets.
func (c KeyConfig) OpenSecrets(ctx context.Context, source secret.Source) (Secrets, error) {
	signs, err := secret.Open(ctx, source, secret.CheckIn, time.Now)
	if err != nil {
		return Secrets{}, err
	}
	seals, err := secret.Open(ctx, source, secret.Messages, time.Now)
	if err != nil {
		return Secrets{}, err
	}
	s := Secrets{
		CheckIn: checkin.RotatingKeys(signs.All), Claims: waitlist.RotatingClaimKey(signs.At, signs.All),
		Seals: seal.RotatingKeys(seals.All), all: []secret.Follower{signs, seals},
	}
	for _, file := range []struct {
		of   secret.Purpose
		path string
		into **secret.Credential
	}{
		{secret.Twilio, c.Senders.TwilioTokenFile, &s.Twilio},
		{secret.SMTP, c.Senders.SMTPPasswordFile, &s.SMTP},
		{secret.FCM, c.Senders.FCMKey, &s.FCM},
	} {
		if file.path == "" {
			continue
		}
		credential, err := secret.OpenCredential(ctx, source, file.of)
		if err != nil {
			return Secrets{}, err
		}
		*file.into, s.all = credential, append(s.all, credential)
	}
	return s, nil
}

// textOf returns a function that gives a credential: that of a file, or else a variable's.
func textOf(file *secret.Credential, variable string) func() string {
	if file != nil {
		return file.Text
	}
	return func() string { return variable }
}

// Run follows the source until ctx ends.
func (s Secrets) Run(ctx context.Context, log *slog.Logger) { secret.Run(ctx, log, s.all...) }

// countedSource counts the failures of a source.
type countedSource struct {
	secret.Source
	failures *prometheus.CounterVec
}

func countFailures(of secret.Source, to prometheus.Registerer) secret.Source {
	c := countedSource{of, promauto.With(to).NewCounterVec(prometheus.CounterOpts{
		Name: "berth_secret_read_failures_total",
		Help: "Attempts to read a secret that failed, so that its old versions stay valid, by purpose.",
	}, []string{"purpose"})}
	for _, purpose := range []secret.Purpose{
		secret.Signing, secret.CheckIn, secret.Messages, secret.Twilio, secret.SMTP, secret.FCM,
	} {
		c.failures.WithLabelValues(string(purpose))
	}
	return c
}

func (c countedSource) Signers(ctx context.Context) ([]secret.Signer, error) {
	signers, err := c.Source.Signers(ctx)
	if err == nil {
		err = token.CheckSigners(signers)
	}
	c.count(secret.Signing, err)
	return signers, err
}

func (c countedSource) Secrets(ctx context.Context, of secret.Purpose) ([]secret.Version, error) {
	versions, err := c.Source.Secrets(ctx, of)
	c.count(of, err)
	return versions, err
}

func (c countedSource) Credential(ctx context.Context, of secret.Purpose) (string, error) {
	text, err := c.Source.Credential(ctx, of)
	if of == secret.FCM && err == nil {
		err = fcm.CheckKey([]byte(text)) // half of a key must not replace a good one
	}
	c.count(of, err)
	return text, err
}

func (c countedSource) count(of secret.Purpose, err error) {
	if err != nil {
		c.failures.WithLabelValues(string(of)).Inc()
	}
}

package boot

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/secret"
)

// Secrets are the secrets of a node, except for those that sign tokens. They follow their source while Run runs.
type Secrets struct {
	CheckIn checkin.Keys      // QR codes and display links
	Claims  waitlist.ClaimKey // links of waitlist offers
	Seals   seal.Keys         // sealed columns, and links in mails

	rings []*secret.Ring
}

// Files returns the files with the secrets. It creates those that are missing.
func (c KeyConfig) Files() (secret.Files, error) {
	files := secret.Files{
		secret.Signing: c.signingKeyFile(), secret.CheckIn: c.checkInKeyFile(), secret.Messages: c.messageKeyFile(),
	}
	return files, files.Create()
}

// OpenSecrets reads the secrets.
func OpenSecrets(ctx context.Context, source secret.Source) (Secrets, error) {
	signs, err := secret.Open(ctx, source, secret.CheckIn, time.Now)
	if err != nil {
		return Secrets{}, err
	}
	seals, err := secret.Open(ctx, source, secret.Messages, time.Now)
	if err != nil {
		return Secrets{}, err
	}
	return Secrets{
		CheckIn: checkin.RotatingKeys(signs.All), Claims: waitlist.RotatingClaimKey(signs.At),
		Seals: seal.RotatingKeys(seals.All), rings: []*secret.Ring{signs, seals},
	}, nil
}

// Run follows the source until ctx ends.
func (s Secrets) Run(ctx context.Context, log *slog.Logger) { secret.Run(ctx, log, s.rings...) }

// countedSource counts the failures of a source.
type countedSource struct {
	secret.Source
	failures *prometheus.CounterVec
}

func countFailures(of secret.Source, to prometheus.Registerer) secret.Source {
	c := countedSource{of, promauto.With(to).NewCounterVec(prometheus.CounterOpts{
		Name: "berth_secret_read_failures_total",
		Help: "Attempts to read a secret that failed, so that its old versions stay in use, by purpose.",
	}, []string{"purpose"})}
	for _, purpose := range []secret.Purpose{secret.Signing, secret.CheckIn, secret.Messages} {
		c.failures.WithLabelValues(string(purpose))
	}
	return c
}

func (c countedSource) Signers(ctx context.Context) ([]secret.Signer, error) {
	signers, err := c.Source.Signers(ctx)
	c.count(secret.Signing, err)
	return signers, err
}

func (c countedSource) Secrets(ctx context.Context, of secret.Purpose) ([]secret.Version, error) {
	versions, err := c.Source.Secrets(ctx, of)
	c.count(of, err)
	return versions, err
}

func (c countedSource) count(of secret.Purpose, err error) {
	if err != nil {
		c.failures.WithLabelValues(string(of)).Inc()
	}
}

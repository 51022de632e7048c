package boot

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider/localbox"
	"github.com/berthhq/berth/internal/secret"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/worker"
)

func TestOpenSecrets_CreatesNone(t *testing.T) {
	t.Parallel()
	c := KeyConfig{Data: t.TempDir(), SigningKey: "/nowhere/else.pem"}
	_, err := c.OpenSecrets(t.Context(), c.Files())
	test.ErrorContains(t, err, filepath.Join(c.Data, "check-in.key"))
	test.ErrorContains(t, err, "berth keys new")
	_, err = c.OpenIssuer(t.Context(), c.Files())
	test.ErrorContains(t, err, "/nowhere/else.pem")
	test.SliceEmpty(t, expect.Value(os.ReadDir(c.Data))(t))
}

func TestCreate_MakesTheFilesOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new")
	var (
		links [8]string
		group sync.WaitGroup
	)
	for i := range links {
		group.Go(func() {
			secrets, err := openAll(t, KeyConfig{Data: folder})
			test.NoError(t, err)
			if err == nil {
				links[i] = secrets.Claims.Token(tenant.TenantID{}, tenant.OfferID{}) +
					secrets.Seals.Sign(tenant.TenantID{}, "test", nil)
			}
		})
	}
	group.Wait()
	for _, link := range links[1:] {
		must.EqOp(t, links[0], link, must.Sprint("concurrent starts have different keys"))
	}
	info := expect.Value(os.Stat(filepath.Join(folder, "check-in.key")))(t)
	test.EqOp(t, 0o600, info.Mode().Perm(), test.Sprintf("%v", info.Mode()))
	files := expect.Value(os.ReadDir(folder))(t)
	test.EqOp(t, 3, len(files), test.Sprintf("files: %v", files))
}

func openAll(t *testing.T, c KeyConfig) (Secrets, error) {
	t.Helper()
	if _, err := c.Files().Create(); err != nil {
		return Secrets{}, err
	}
	return c.OpenSecrets(t.Context(), c.Files())
}

// A sender is created again when the file with its credential has changed, and only then.
func TestFollowing_UsesTheCredentialOfTheFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "password")
	must.NoError(t, os.WriteFile(path, []byte("first"), 0o600))
	secrets := expect.Value(openAll(t, KeyConfig{Data: folder, Senders: SenderConfig{SMTPPasswordFile: path}}))(t)
	var used []string
	sender := expect.Value(following(textOf(secrets.SMTP, "not used"), func(password string) (worker.Sender, error) {
		used = append(used, password)
		if password == "refused" {
			return nil, errors.New(password)
		}
		return localbox.Sender{}, nil
	}))(t)
	for _, password := range []string{"first", "refused", "third", "third"} {
		must.NoError(t, os.WriteFile(path, []byte(password), 0o600))
		must.NoError(t, secrets.SMTP.Reload(t.Context()))
		_, failed := sender(tenant.TenantID{}).(failedSender)
		test.EqOp(t, password == "refused", failed, test.Sprint(password))
	}
	test.Eq(t, []string{"first", "refused", "third"}, used)
	test.EqOp(t, "variable", textOf(secrets.Twilio, "variable")())
}

func TestOpenSecrets_RejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for text, complaint := range map[string]string{
		one + "\n":                            "",
		one + "\n\n" + two:                    "",
		"  " + one + "\r\n":                   "",
		one + " 2030-01-31T09:00:00Z\n" + two: "",
		one + " tomorrow\n":                   "RFC 3339",
		one + " abababab\n":                   "RFC 3339",
		"":                                    "empty",
		"\n":                                  "empty",
		one + "\nnonsense":                    "hexadecimal",
		strings.Repeat("ab", 31):              "check-in.key",
		one + "\n" + "abcd" + "\n":            "check-in.key",
	} {
		path := filepath.Join(t.TempDir(), "check-in.key")
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := openAll(t, KeyConfig{Data: t.TempDir(), CheckInKey: path})
		if complaint == "" {
			test.NoError(t, err, test.Sprintf("%q", text))
			continue
		}
		test.ErrorContains(t, err, complaint, test.Sprintf("%q", text))
		test.StrNotContains(t, err.Error(), "abab", test.Sprint("the error tells the secret"))
	}
}

// rsaKey returns the PEM block of a key that Berth does not sign with.
func rsaKey(t *testing.T) []byte {
	t.Helper()
	der := expect.Value(x509.MarshalPKCS8PrivateKey(expect.Value(rsa.GenerateKey(rand.Reader, 2048))(t)))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func TestCountFailures_CountsByPurpose(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	path := filepath.Join(t.TempDir(), "signing-key.pem")
	must.NoError(t, os.WriteFile(path, []byte("broken"), 0o600))
	source := countFailures(secret.Files{secret.Signing: path, secret.FCM: path, secret.SMTP: path}, registry)
	test.Error(t, expect.Error(source.Signers(t.Context())))
	// A good key that everyone can read, and one that cannot sign. The keys from before stay, as if nothing had come.
	expect.OK(t)(secret.Files{secret.Signing: path + ".new"}.Create())
	for _, tt := range []struct {
		key  []byte
		mode os.FileMode
		want string
	}{
		{expect.Value(os.ReadFile(path + ".new"))(t), 0o644, "everyone can read"}, {rsaKey(t), 0o600, "must be Ed25519"},
	} {
		open := filepath.Join(t.TempDir(), "signing-key.pem")
		must.NoError(t, os.WriteFile(open, tt.key, tt.mode))
		must.NoError(t, os.Rename(open, path))
		test.ErrorContains(t, expect.Error(source.Signers(t.Context())), tt.want)
	}
	must.NoError(t, os.WriteFile(path, []byte("broken"), 0o600))
	test.ErrorContains(t, expect.Error(source.Credential(t.Context(), secret.FCM)), "not a service account's key")
	test.EqOp(t, "broken", expect.Value(source.Credential(t.Context(), secret.SMTP))(t))
	test.Eq(t, map[string]float64{
		"berth_secret_read_failures_total purpose=signing":  3,
		"berth_secret_read_failures_total purpose=check-in": 0,
		"berth_secret_read_failures_total purpose=messages": 0,
		"berth_secret_read_failures_total purpose=twilio":   0,
		"berth_secret_read_failures_total purpose=smtp":     0,
		"berth_secret_read_failures_total purpose=fcm":      1,
	}, expect.Metrics(t, registry, ""))
}

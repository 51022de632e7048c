package boot

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/secret"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestOpenSecrets_CreatesTheFilesOnce(t *testing.T) {
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
	files, err := c.Files()
	if err != nil {
		return Secrets{}, err
	}
	return OpenSecrets(t.Context(), files)
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
		test.True(
			t, (complaint != "" || err == nil) && (complaint == "" || err != nil && strings.Contains(err.Error(), complaint)),
			test.Sprintf("%q: %v", text, err),
		)
		test.False(
			t, err != nil && strings.Contains(err.Error(), "abab"), test.Sprintf("the error tells the secret: %v", err),
		)
	}
}

func TestCountFailures_CountsByPurpose(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	path := filepath.Join(t.TempDir(), "signing-key.pem")
	must.NoError(t, os.WriteFile(path, []byte("broken"), 0o600))
	test.Error(t, expect.Error(countFailures(secret.Files{secret.Signing: path}, registry).Signers(t.Context())))
	test.Eq(t, map[string]float64{
		"berth_secret_read_failures_total purpose=signing":  1,
		"berth_secret_read_failures_total purpose=check-in": 0,
		"berth_secret_read_failures_total purpose=messages": 0,
	}, expect.Metrics(t, registry, ""))
}

package secret_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/secret"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

// source is a source in memory, as a key management service would be one.
type source struct {
	versions []secret.Version
	err      error
}

func (s *source) Signers(context.Context) ([]secret.Signer, error) { return nil, s.err }

func (s *source) Secrets(context.Context, secret.Purpose) ([]secret.Version, error) {
	return s.versions, s.err
}

func (s *source) Credential(context.Context, secret.Purpose) (string, error) { return "", s.err }

func bytesOf(b byte) []byte { return bytes.Repeat([]byte{b}, secret.MinLength) }

func TestRing_UsesTheVersionThatHasBegun(t *testing.T) {
	t.Parallel()
	old, next := secret.Version{Secret: bytesOf('a')}, secret.Version{Secret: bytesOf('b'), From: noon}
	twin := secret.Version{Secret: bytesOf('c')}
	for name, tt := range map[string]struct {
		versions []secret.Version
		after    time.Duration // noon
		want     []byte
	}{
		"before the next begins":     {[]secret.Version{next, old}, -1, old.Secret},
		"when the next begins":       {[]secret.Version{next, old}, 0, next.Secret},
		"in any order":               {[]secret.Version{old, next}, time.Hour, next.Secret},
		"the first of those at once": {[]secret.Version{twin, old}, 0, twin.Secret},
		"none has begun":             {[]secret.Version{next}, -time.Hour, next.Secret},
	} {
		now := func() time.Time { return noon.Add(tt.after) }
		ring := expect.Value(secret.Open(t.Context(), &source{versions: tt.versions}, secret.CheckIn, now))(t)
		all := ring.All()
		test.Eq(t, tt.want, all[0], test.Sprint(name))
		test.Eq(t, tt.want, ring.At(now()), test.Sprint(name))
		test.SliceLen(t, len(tt.versions), all, test.Sprint(name))
	}
}

func TestRing_KeepsTheLastVersionsThatCouldBeRead(t *testing.T) {
	t.Parallel()
	s := &source{versions: []secret.Version{{Secret: bytesOf('a')}}}
	ring := expect.Value(secret.Open(t.Context(), s, secret.CheckIn, time.Now))(t)
	for _, broken := range []source{
		{err: errors.New("unreachable")}, {}, {versions: []secret.Version{{Secret: []byte("short")}}},
	} {
		*s = broken
		test.Error(t, ring.Reload(t.Context()))
		test.Eq(t, [][]byte{bytesOf('a')}, ring.All())
	}
	*s = source{versions: []secret.Version{{Secret: bytesOf('b')}}}
	test.NoError(t, ring.Reload(t.Context()))
	test.Eq(t, [][]byte{bytesOf('b')}, ring.All())
}

func TestCredential_FollowsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	files := secret.Files{secret.Twilio: path}
	expect.OK(t)(files.Create())
	_, err := secret.OpenCredential(t.Context(), files, secret.Twilio)
	must.ErrorIs(t, err, os.ErrNotExist)
	must.NoError(t, os.WriteFile(path, []byte("old\n"), 0o600))
	credential := expect.Value(secret.OpenCredential(t.Context(), files, secret.Twilio))(t)
	for _, tt := range []struct {
		file, want string
		ok         bool
	}{{"old\n", "old", true}, {"new", "new", true}, {"\n", "new", false}, {"a b\r\n", "a b", true}} {
		must.NoError(t, os.WriteFile(path, []byte(tt.file), 0o600))
		test.EqOp(t, tt.ok, credential.Reload(t.Context()) == nil, test.Sprintf("%q", tt.file))
		test.EqOp(t, tt.want, credential.Text(), test.Sprintf("%q", tt.file))
	}
}

// A rotation: add a version, wait until it is in use, remove the old one.
func TestFiles_AddAndPrune(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := secret.Files{
		secret.Signing: filepath.Join(folder, "signing.pem"), secret.CheckIn: filepath.Join(folder, "check-in.key"),
	}
	expect.OK(t)(files.Create())
	begins := func(of secret.Purpose) []time.Time { return expect.Value(files.Begins(t.Context(), of))(t) }
	for of, path := range files {
		test.Eq(t, []time.Time{{}}, begins(of), test.Sprint(of))
		must.NoError(t, os.Chmod(path, 0o640))
		must.NoError(t, files.Add(t.Context(), of, noon))
		test.Eq(t, []time.Time{noon, {}}, begins(of), test.Sprint(of))
		test.EqOp(t, 0o640, expect.Value(os.Stat(path))(t).Mode().Perm(), test.Sprint("the group can still read it"))

		test.EqOp(t, 0, expect.Value(files.Prune(t.Context(), of, noon.Add(-1)))(t), test.Sprint("the old one is in use"))
		test.EqOp(t, 1, expect.Value(files.Prune(t.Context(), of, noon))(t), test.Sprint(of))
		test.Eq(t, []time.Time{noon}, begins(of), test.Sprint(of))
	}
	test.SliceLen(t, 2, expect.Value(os.ReadDir(folder))(t), test.Sprint("drafts were left behind"))
}

func TestFiles_AddNothingToABrokenFile(t *testing.T) {
	t.Parallel()
	for _, of := range []secret.Purpose{secret.Signing, secret.CheckIn} {
		path := filepath.Join(t.TempDir(), "file")
		must.NoError(t, os.WriteFile(path, []byte("broken"), 0o600))
		test.Error(t, secret.Files{of: path}.Add(t.Context(), of, noon))
		test.EqOp(t, "broken", string(expect.Value(os.ReadFile(path))(t)))
	}
}

func TestFiles_PruneKeepsWhatSealedColumnsNeed(t *testing.T) {
	t.Parallel()
	files := secret.Files{secret.Messages: filepath.Join(t.TempDir(), "message.key")}
	expect.OK(t)(files.Create())
	must.NoError(t, files.Add(t.Context(), secret.Messages, noon))
	test.Error(t, expect.Error(files.Prune(t.Context(), secret.Messages, noon.Add(time.Hour))))
	test.SliceLen(t, 2, expect.Value(files.Secrets(t.Context(), secret.Messages))(t))
}

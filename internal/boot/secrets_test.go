package boot

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestOpenSigningKeys_CreatesTheFileOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "check-in.key")
	var all [8]SigningKeys
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			keys, err := (KeyConfig{CheckInKey: path}).OpenSigningKeys()
			test.NoError(t, err)
			all[i] = keys
		})
	}
	group.Wait()
	for _, keys := range all[1:] {
		must.True(t, reflect.DeepEqual(keys, all[0]), must.Sprint("concurrent starts have different keys"))
	}
	info := expect.Value(os.Stat(path))(t)
	test.EqOp(t, 0o600, info.Mode().Perm(), test.Sprintf("%v", info.Mode()))
	files := expect.Value(os.ReadDir(filepath.Dir(path)))(t)
	test.EqOp(t, 1, len(files), test.Sprintf("files: %v", files))
}

func TestOpenSigningKeys_RejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for text, complaint := range map[string]string{
		one + "\n":                 "",
		one + "\n\n" + two:         "",
		"  " + one + "\r\n":        "",
		"":                         "empty",
		"\n":                       "empty",
		one + "\nnonsense":         "hexadecimal",
		strings.Repeat("ab", 31):   "check-in.key",
		one + "\n" + "abcd" + "\n": "check-in.key",
	} {
		path := filepath.Join(t.TempDir(), "check-in.key")
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := (KeyConfig{CheckInKey: path}).OpenSigningKeys()
		test.True(
			t, (complaint != "" || err == nil) && (complaint == "" || err != nil && strings.Contains(err.Error(), complaint)),
			test.Sprintf("%q: %v", text, err),
		)
		test.False(
			t, err != nil && strings.Contains(err.Error(), "abab"), test.Sprintf("the error tells the secret: %v", err),
		)
	}
}

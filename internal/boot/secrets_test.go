package boot

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func TestOpenSigningKeys_CreatesTheFileOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "check-in.key")
	var all [8]SigningKeys
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			keys, err := (KeyConfig{CheckInKey: path}).OpenSigningKeys()
			if err != nil {
				t.Error(err)
			}
			all[i] = keys
		})
	}
	group.Wait()
	for _, keys := range all[1:] {
		if !reflect.DeepEqual(keys, all[0]) {
			t.Fatal("concurrent starts have different keys")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
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
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := (KeyConfig{CheckInKey: path}).OpenSigningKeys()
		if complaint == "" && err != nil || complaint != "" && (err == nil || !strings.Contains(err.Error(), complaint)) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "abab") {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
}

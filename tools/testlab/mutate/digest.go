package mutate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// digest identifies the content of folders, without the folders in them. What a test wrote to testdata is not read.
func digest(folders ...string) (string, error) {
	sum := sha256.New()
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s\x00%d\x00", entry.Name(), len(text))
			sum.Write(text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

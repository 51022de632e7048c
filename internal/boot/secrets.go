package boot

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
)

// SigningKeys sign the codes and links that the service creates. Both are derived from the file of the check-in key.
type SigningKeys struct {
	CheckIn checkin.Keys      // QR codes and display links
	Claims  waitlist.ClaimKey // links of waitlist offers
}

// OpenSigningKeys reads the check-in key, and creates it if it is missing.
func (c KeyConfig) OpenSigningKeys() (SigningKeys, error) {
	path := c.checkInKeyFile()
	secrets, err := openSecrets("check-in key", path)
	if err != nil {
		return SigningKeys{}, err
	}
	var keys SigningKeys
	if keys.CheckIn, err = checkin.NewKeys(secrets[0], secrets[1:]...); err == nil {
		keys.Claims, err = waitlist.NewClaimKey(secrets[0])
	}
	if err != nil {
		return SigningKeys{}, fmt.Errorf("check-in key %s: %w", path, err)
	}
	return keys, nil
}

// openMessageKeys reads the secrets that encrypt the accounts of tenants' own senders and sign links in mails.
func openMessageKeys(path string) (seal.Keys, error) {
	secrets, err := openSecrets("message key", path)
	if err != nil {
		return seal.Keys{}, err
	}
	keys, err := seal.NewKeys(secrets[0], secrets[1:]...)
	if err != nil {
		return seal.Keys{}, fmt.Errorf("message key %s: %w", path, err)
	}
	return keys, nil
}

// openSecrets reads a file of secrets: one per line, in hexadecimal, the newest first. It creates the file if it is
// missing.
func openSecrets(name, path string) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = createSecret(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var secrets [][]byte
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		secret, err := hex.DecodeString(string(line))
		if err != nil {
			return nil, fmt.Errorf("%s %s: a line is not hexadecimal", name, path)
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		return nil, fmt.Errorf("%s %s is empty", name, path)
	}
	return secrets, nil
}

// createSecret creates the file with a new secret, readable by its owner only. If two processes start at the same time,
// one creates the file and both read it. It creates the folder, too, because the file may be the first in it.
func createSecret(path string) ([]byte, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	text := append(hex.AppendEncode(nil, secret), '\n')
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(temporary.Name())
	if _, err := temporary.Write(text); err != nil {
		return nil, errors.Join(err, temporary.Close())
	}
	if err := errors.Join(temporary.Sync(), temporary.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(temporary.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}

package secret

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Files has the path of the file of each secret. To replace a file, rename another over it, so that it is never read
// half written.
//
// The file of the signing keys has a PEM block (PKCS #8) for each key. The header From of a block says when the key
// begins to sign. The other files have a line for each secret in hexadecimal, optionally followed by a space and the
// time from which it is used. Times are in RFC 3339.
type Files map[Purpose]string

const (
	pemType = "PRIVATE KEY"
	pemFrom = "From"
	// maxFile limits what is read of a file.
	maxFile = 1 << 20
)

// Create creates each file that is missing with a new secret, readable by its owner only, and returns their paths. Only
// a person, or development, does so: a node that made a key of its own could read nothing of the others'. Credentials
// come from others.
func (f Files) Create() (made []string, err error) {
	for _, of := range []Purpose{Signing, CheckIn, Messages} {
		if f[of] == "" {
			continue
		}
		create := newSecret
		if of == Signing {
			create = newSigningKey
		}
		created, err := createMissing(f[of], create)
		if err != nil {
			return made, fmt.Errorf("%s key: %w", of, err)
		}
		if created {
			made = append(made, f[of])
		}
	}
	return made, nil
}

// readKey reads the file of a key.
func (f Files) readKey(of Purpose) ([]byte, error) {
	text, err := read(f[of])
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: correct the path, or copy the file of the other nodes; "+
			"`berth keys new` makes the first", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s key: %w", of, err)
	}
	return text, nil
}

// Signers implements Source.
func (f Files) Signers(context.Context) ([]Signer, error) {
	path := f[Signing]
	text, err := f.readKey(Signing)
	if err != nil {
		return nil, err
	}
	if err := checkPrivate(path); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	signers, err := parseSigners(path, text)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	return signers, nil
}

// Secrets implements Source.
func (f Files) Secrets(_ context.Context, of Purpose) ([]Version, error) {
	text, err := f.readKey(of)
	if err != nil {
		return nil, err
	}
	versions, err := parseSecrets(text)
	if err != nil {
		return nil, fmt.Errorf("%s key %s: %w", of, f[of], err)
	}
	return versions, nil
}

// Credential implements Source.
func (f Files) Credential(_ context.Context, of Purpose) (string, error) {
	text, err := read(f[of])
	text = bytes.TrimSpace(text)
	if err == nil && len(text) == 0 {
		err = fmt.Errorf("%s is empty", f[of])
	}
	if err != nil {
		return "", fmt.Errorf("%s credential: %w", of, err)
	}
	return string(text), nil
}

// Add adds a new version to the file of a secret. It is used from a time on, which must leave all nodes the time to
// read it: see PublishTime. The file is replaced at once.
func (f Files) Add(ctx context.Context, of Purpose, from time.Time) error {
	create, known := newSecret, func() error { _, err := f.Secrets(ctx, of); return err }
	if of == Signing {
		create, known = newSigningKey, func() error { _, err := f.Signers(ctx); return err }
	}
	if err := known(); err != nil { // never add to a file that cannot be read
		return err
	}
	old, err := os.ReadFile(f[of])
	if err != nil {
		return err
	}
	added, err := create(from)
	if err != nil {
		return err
	}
	return replace(f[of], append(added, old...))
}

// Begins gives the time from which each version of a secret is used, in the order of the file.
func (f Files) Begins(ctx context.Context, of Purpose) ([]time.Time, error) {
	var begins []time.Time
	if of == Signing {
		signers, err := f.Signers(ctx)
		for _, s := range signers {
			begins = append(begins, s.From)
		}
		return begins, err
	}
	versions, err := f.Secrets(ctx, of)
	for _, v := range versions {
		begins = append(begins, v.From)
	}
	return begins, err
}

// Prune removes the versions whose successor has been in use since a time, and gives how many there were. It removes
// none of Messages: what is sealed with a secret needs it.
func (f Files) Prune(ctx context.Context, of Purpose, since time.Time) (removed int, err error) {
	if of == Messages {
		return 0, fmt.Errorf("the old versions of the %s key are still needed", of)
	}
	begins, err := f.Begins(ctx, of)
	if err != nil {
		return 0, err
	}
	kept, err := f.encode(ctx, of, begins[InUse(begins, since)])
	if err != nil {
		return 0, err
	}
	for _, from := range begins {
		if from.Before(begins[InUse(begins, since)]) {
			removed++
		}
	}
	if removed == 0 {
		return 0, nil
	}
	return removed, replace(f[of], kept)
}

// encode gives the content of a file with only the versions that begin at a time or later.
func (f Files) encode(ctx context.Context, of Purpose, earliest time.Time) (text []byte, err error) {
	if of == Signing {
		signers, err := f.Signers(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range signers {
			if s.From.Before(earliest) {
				continue
			}
			block, err := encodeSigner(s.Signer, s.From)
			if err != nil {
				return nil, err
			}
			text = append(text, block...)
		}
		return text, nil
	}
	versions, err := f.Secrets(ctx, of)
	for _, v := range versions {
		if !v.From.Before(earliest) {
			text = append(text, encodeSecret(v.Secret, v.From)...)
		}
	}
	return text, err
}

func parseSigners(path string, text []byte) ([]Signer, error) {
	var signers []Signer
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		text = rest
		if block.Type != pemType {
			return nil, fmt.Errorf("%s has no PEM block %q", path, pemType)
		}
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s has no PKCS #8 key", path)
		}
		key, ok := parsed.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("%s has a key that cannot sign", path)
		}
		from, err := parseFrom(block.Headers[pemFrom])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		signers = append(signers, Signer{key, from})
	}
	if len(signers) == 0 || len(bytes.TrimSpace(text)) > 0 {
		return nil, fmt.Errorf("%s has no PEM block %q, or text after the last one", path, pemType)
	}
	return signers, nil
}

func parseSecrets(text []byte) ([]Version, error) {
	var versions []Version
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		digits, after, _ := bytes.Cut(line, []byte(" "))
		secret, err := hex.DecodeString(string(digits))
		if err != nil {
			return nil, errors.New("a line is not hexadecimal")
		}
		if len(secret) < MinLength {
			return nil, fmt.Errorf("a secret is shorter than %d bytes", MinLength)
		}
		from, err := parseFrom(string(bytes.TrimSpace(after)))
		if err != nil {
			return nil, err
		}
		versions = append(versions, Version{secret, from})
	}
	if len(versions) == 0 {
		return nil, errors.New("the file is empty")
	}
	return versions, nil
}

func parseFrom(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	from, err := time.Parse(time.RFC3339, text)
	if err != nil { // without the text: it could be a part of a secret
		return time.Time{}, errors.New("the time of a version is not in RFC 3339, such as 2030-01-31T09:00:00Z")
	}
	return from.UTC(), nil
}

func newSigningKey(from time.Time) ([]byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return encodeSigner(private, from)
}

func encodeSigner(key crypto.Signer, from time.Time) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: pemType, Bytes: der}
	if !from.IsZero() {
		block.Headers = map[string]string{pemFrom: from.UTC().Format(time.RFC3339)}
	}
	return pem.EncodeToMemory(block), nil
}

func newSecret(from time.Time) ([]byte, error) {
	secret := make([]byte, MinLength)
	_, _ = rand.Read(secret) // never fails
	return encodeSecret(secret, from), nil
}

func encodeSecret(secret []byte, from time.Time) []byte {
	line := hex.AppendEncode(nil, secret)
	if !from.IsZero() {
		line = from.UTC().AppendFormat(append(line, ' '), time.RFC3339)
	}
	return append(line, '\n')
}

// createMissing creates a file unless there is one. If several processes start at the same time, one creates the file.
// It creates the folder, too, because the file may be the first in it.
func createMissing(path string, create func(from time.Time) ([]byte, error)) (created bool, err error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	text, err := create(time.Time{})
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	err = write(path, text, os.Link)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// replace replaces a file that exists. The new one has its permissions.
func replace(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return write(path, text, func(draft, path string) error {
		return errors.Join(os.Chmod(draft, info.Mode().Perm()), os.Rename(draft, path))
	})
}

// write makes a complete file appear at a path.
func write(path string, text []byte, appear func(draft, path string) error) error {
	draft, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // has mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(text)
	if err == nil {
		err = draft.Sync()
	}
	if err = errors.Join(err, draft.Close()); err != nil {
		return err
	}
	return appear(draft.Name(), path)
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return os.ReadFile(path)
}

// checkPrivate refuses a file that everyone can read. The group may read it, because orchestrators give secrets to
// unprivileged processes that way.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o007 != 0 {
		err = fmt.Errorf("everyone can read %s: restrict its permissions (chmod 600)", path)
	}
	return err
}

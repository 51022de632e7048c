package mutate

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A journal is a file to which values are appended, one per line. A run that was interrupted continues from it.
type journal[T any] struct {
	path string

	mu     sync.Mutex
	values []T
}

// openJournal reads a journal. A last line that was cut is removed.
func openJournal[T any](path string) (*journal[T], error) {
	j := &journal[T]{path: path}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, os.MkdirAll(filepath.Dir(path), 0o750)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for decoder := json.NewDecoder(bufio.NewReader(file)); ; {
		var value T
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return j, nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return j, os.Truncate(path, decoder.InputOffset())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		j.values = append(j.values, value)
	}
}

// add appends a value.
func (j *journal[T]) add(value T) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	file, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	j.values = append(j.values, value)
	return errors.Join(err, file.Close())
}

func (j *journal[T]) all() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.values)
}

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

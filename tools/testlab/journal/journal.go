// Package journal keeps the results of long runs, so that a run that was stopped continues.
package journal

import (
	"bufio"
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

// A Journal is a file to which values are appended, one per line. A run that was interrupted continues from it.
type Journal[T any] struct {
	path string

	mu     sync.Mutex
	values []T
}

// Open reads a journal. A last line that was cut is removed.
func Open[T any](path string) (*Journal[T], error) {
	j := &Journal[T]{path: path}
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

// Add appends a value.
func (j *Journal[T]) Add(value T) error {
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

// All returns the values, the oldest first.
func (j *Journal[T]) All() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.values)
}

package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Sizes of a page; the contract refuses what is above.
const (
	defaultPageSize = 50
	MaxPageSize     = 500
)

// PageRequest is any request for one page of a list.
type PageRequest interface {
	proto.Message
	GetPageSize() int32
	GetPageToken() string
}

// Page is what a list is asked for: so many rows after a position. A position
// (C) is the sort key of a row, so that rows which are inserted or deleted
// meanwhile make no other row appear twice or not at all.
type Page[C any] struct {
	Size  int
	After *C // nil on the first page

	query [QuerySize]byte
}

// QuerySize bytes tell queries apart. They guard against mistakes, not against
// forgery: a forged position shows nothing that a query does not.
const QuerySize = 8

// OpenPage reads page_size and page_token. A token goes on with the query that
// gave it and with no other: INVALID_FIELD. Only page_size may change on the way.
func OpenPage[C any](request PageRequest) (Page[C], error) {
	p := Page[C]{Size: defaultPageSize}
	if size := int(request.GetPageSize()); size > 0 {
		p.Size = min(size, MaxPageSize)
	}
	var err error
	if p.query, err = queryOf(request); err != nil {
		return Page[C]{}, err
	}
	token := request.GetPageToken()
	if token == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < QuerySize || !bytes.Equal(raw[:QuerySize], p.query[:]) {
		return Page[C]{}, ErrPageToken
	}
	p.After = new(C)
	if err := json.Unmarshal(raw[QuerySize:], p.After); err != nil || HasNUL(raw[QuerySize:]) {
		return Page[C]{}, ErrPageToken
	}
	return p, nil
}

var ErrPageToken = fault.Invalid("page_token", "page_token is none that this query gave.")

// HasNUL reports whether JSON spells the character NUL, which no text that is kept has.
func HasNUL(position []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(position, []byte(`\\`), nil), []byte(`\u0000`))
}

// Next is the token that goes on after a position.
func (p Page[C]) Next(last C) (string, error) {
	position, err := json.Marshal(last)
	if err != nil {
		return "", fmt.Errorf("page token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(append(p.query[:], position...)), nil
}

// Cut takes the rows of a page plus the one that shows whether there are more,
// and gives the page with the token of the next one, or "" on the last.
func Cut[T, C any](p Page[C], rows []T, position func(T) C) ([]T, string, error) {
	if len(rows) <= p.Size {
		return rows, "", nil
	}
	rows = rows[:p.Size]
	token, err := p.Next(position(rows[p.Size-1]))
	return rows, token, err
}

// queryOf identifies a query by everything in the request but the page itself.
// The tenant has been filled in, so it does not matter whether it was named.
func queryOf(request proto.Message) (id [QuerySize]byte, err error) {
	query := proto.CloneOf(request)
	fields := query.ProtoReflect().Descriptor().Fields()
	query.ProtoReflect().Clear(fields.ByName("page_size"))
	query.ProtoReflect().Clear(fields.ByName("page_token"))
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(query)
	if err != nil {
		return id, fmt.Errorf("page query: %w", err)
	}
	sum := sha256.Sum256(append([]byte(query.ProtoReflect().Descriptor().FullName()+"\x00"), raw...))
	return [QuerySize]byte(sum[:QuerySize]), nil
}

// StartCursor is a position in a list that is ordered by start, then id.
type StartCursor struct {
	Start time.Time
	ID    tenant.UUID
}

// NameCursor is a position in a list that is ordered by name.
type NameCursor struct {
	Name string
	ID   tenant.UUID
}

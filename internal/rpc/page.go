package rpc

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
	maxPageSize     = 500
)

// pageRequest is any request for one page of a list.
type pageRequest interface {
	proto.Message
	GetPageSize() int32
	GetPageToken() string
}

// page is what a list is asked for: so many rows after a position. A position
// (C) is the sort key of a row, so that rows which are inserted or deleted
// meanwhile make no other row appear twice or not at all.
type page[C any] struct {
	Size  int
	After *C // nil on the first page

	query [querySize]byte
}

// querySize bytes tell queries apart. They guard against mistakes, not against
// forgery: a forged position shows nothing that a query does not.
const querySize = 8

// openPage reads page_size and page_token. A token goes on with the query that
// gave it and with no other: INVALID_FIELD. Only page_size may change on the way.
func openPage[C any](request pageRequest) (page[C], error) {
	p := page[C]{Size: defaultPageSize}
	if size := int(request.GetPageSize()); size > 0 {
		p.Size = min(size, maxPageSize)
	}
	var err error
	if p.query, err = queryOf(request); err != nil {
		return page[C]{}, err
	}
	token := request.GetPageToken()
	if token == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < querySize || !bytes.Equal(raw[:querySize], p.query[:]) {
		return page[C]{}, errPageToken
	}
	p.After = new(C)
	if err := json.Unmarshal(raw[querySize:], p.After); err != nil || hasNUL(raw[querySize:]) {
		return page[C]{}, errPageToken
	}
	return p, nil
}

var errPageToken = fault.Invalid("page_token", "page_token is none that this query gave.")

// hasNUL reports whether JSON spells the character NUL, which no text that is kept has.
func hasNUL(position []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(position, []byte(`\\`), nil), []byte(`\u0000`))
}

// next is the token that goes on after a position.
func (p page[C]) next(last C) (string, error) {
	position, err := json.Marshal(last)
	if err != nil {
		return "", fmt.Errorf("page token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(append(p.query[:], position...)), nil
}

// cut takes the rows of a page plus the one that shows whether there are more,
// and gives the page with the token of the next one, or "" on the last.
func cut[T, C any](p page[C], rows []T, position func(T) C) ([]T, string, error) {
	if len(rows) <= p.Size {
		return rows, "", nil
	}
	rows = rows[:p.Size]
	token, err := p.next(position(rows[p.Size-1]))
	return rows, token, err
}

// queryOf identifies a query by everything in the request but the page itself.
// The tenant has been filled in, so it does not matter whether it was named.
func queryOf(request proto.Message) (id [querySize]byte, err error) {
	query := proto.CloneOf(request)
	fields := query.ProtoReflect().Descriptor().Fields()
	query.ProtoReflect().Clear(fields.ByName("page_size"))
	query.ProtoReflect().Clear(fields.ByName("page_token"))
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(query)
	if err != nil {
		return id, fmt.Errorf("page query: %w", err)
	}
	sum := sha256.Sum256(append([]byte(query.ProtoReflect().Descriptor().FullName()+"\x00"), raw...))
	return [querySize]byte(sum[:querySize]), nil
}

// startCursor is a position in a list that is ordered by start, then id.
type startCursor struct {
	Start time.Time
	ID    tenant.UUID
}

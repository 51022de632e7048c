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

const (
	defaultPageSize = 50
	// MaxPageSize is the largest page. The rules of the contract reject requests for more.
	MaxPageSize = 500
)

// PageRequest is a request for one page of a list.
type PageRequest interface {
	proto.Message
	GetPageSize() int32
	GetPageToken() string
}

// Page says which rows of a list to return: at most Size rows after a cursor. A cursor (C) is the sort key of a row, so
// inserting or deleting rows between two pages never repeats or skips another row.
type Page[C any] struct {
	Size  int
	After *C // nil on the first page

	queryHash [QueryHashSize]byte
}

// QueryHashSize is the size of the hash of a query in a page token, in bytes. The hash guards against mistakes, not
// against forgery: a forged cursor shows nothing that the query itself does not.
const QueryHashSize = 8

// ParsePage reads page_size and page_token. A token is valid only for the query that returned it, otherwise it is an
// INVALID_FIELD; only page_size may change between pages.
func ParsePage[C any](request PageRequest) (Page[C], error) {
	hash, err := queryHash(request)
	if err != nil {
		return Page[C]{}, err
	}
	p := Page[C]{Size: defaultPageSize, queryHash: hash}
	if size := int(request.GetPageSize()); size > 0 {
		p.Size = min(size, MaxPageSize)
	}
	token := request.GetPageToken()
	if token == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < QueryHashSize || !bytes.Equal(raw[:QueryHashSize], p.queryHash[:]) {
		return Page[C]{}, ErrPageToken
	}
	p.After = new(C)
	if err := json.Unmarshal(raw[QueryHashSize:], p.After); err != nil || HasNUL(raw[QueryHashSize:]) {
		return Page[C]{}, ErrPageToken
	}
	return p, nil
}

// ErrPageToken is the error for a token that this query did not return.
var ErrPageToken = fault.Invalid("page_token", "page_token is not from this query.")

// HasNUL reports whether JSON contains an escaped NUL character. No stored text has one, and Postgres rejects it.
func HasNUL(raw []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(raw, []byte(`\\`), nil), []byte(`\u0000`))
}

// NextToken returns the token of the page that starts after a cursor.
func (p Page[C]) NextToken(last C) string {
	cursor, err := json.Marshal(last)
	if err != nil {
		panic("page token: " + err.Error()) // cursors are plain values
	}
	return base64.RawURLEncoding.EncodeToString(append(p.queryHash[:], cursor...))
}

// Limit is how many rows to read: one more than the page has.
func (p Page[C]) Limit() int { return p.Size + 1 }

// Paginate returns the rows of a page and the token of the next page, or "" on the last page. The rows are those of the
// page and one more, which shows that there is a next page.
func Paginate[T, C any](p Page[C], rows []T, cursor func(T) C) ([]T, string) {
	if len(rows) <= p.Size {
		return rows, ""
	}
	rows = rows[:p.Size]
	return rows, p.NextToken(cursor(rows[p.Size-1]))
}

// queryHash hashes everything in a request but its page. The tenant was filled in before, so it does not matter whether
// the request named it.
func queryHash(request proto.Message) (hash [QueryHashSize]byte, err error) {
	query := proto.CloneOf(request)
	fields := query.ProtoReflect().Descriptor().Fields()
	query.ProtoReflect().Clear(fields.ByName("page_size"))
	query.ProtoReflect().Clear(fields.ByName("page_token"))
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(query)
	if err != nil { // all that fail would have one hash
		return hash, fmt.Errorf("page query: %w", err)
	}
	sum := sha256.Sum256(append([]byte(query.ProtoReflect().Descriptor().FullName()+"\x00"), raw...))
	return [QueryHashSize]byte(sum[:QueryHashSize]), nil
}

// StartCursor is a position in a list that is ordered by start, then ID.
type StartCursor struct {
	Start time.Time
	ID    tenant.UUID
}

// NameCursor is a position in a list that is ordered by name, then ID.
type NameCursor struct {
	Name string
	ID   tenant.UUID
}

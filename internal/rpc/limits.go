package rpc

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"connectrpc.com/connect"

	"github.com/berthhq/berth/internal/fault"
)

// A request is limited twice: what comes over the wire, and what a gzipped
// message inflates to. Connect's own limit would inflate a bomb to its end to
// tell its size, and would answer without a reason; here reading just stops.

func tooLarge(limit int64) *connect.Error {
	return encode(context.Background(), fault.New(fault.ResourceExhausted, fault.TooLarge,
		"The request is larger than %d bytes.", limit).WithMetadata("limit_bytes", strconv.FormatInt(limit, 10)))
}

// limitBody stops reading a body after limit bytes.
func limitBody(w http.ResponseWriter, r *http.Request, limit int64) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = limitedBody{http.MaxBytesReader(w, r.Body, limit)}
	}
}

type limitedBody struct{ io.ReadCloser }

func (b limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = tooLarge(over.Limit)
	}
	return n, err
}

// gzipUpTo is gzip for requests that inflate to at most limit bytes, and for answers.
func gzipUpTo(limit int64) connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &inflater{limit: limit} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) },
	)
}

// inflater is a gzip.Reader with an end. Its errors are Connect's, because those
// pass through Connect as they are.
type inflater struct {
	gzip  gzip.Reader
	limit int64
	left  int64
	err   error
}

func (i *inflater) Reset(from io.Reader) error {
	i.left, i.err = i.limit, i.gzip.Reset(from)
	return nil // Read tells
}

func (i *inflater) Read(p []byte) (n int, err error) {
	if i.err == nil {
		// One byte more than is left tells a message of exactly the limit from a longer one.
		n, i.err = i.gzip.Read(p[:min(int64(len(p)), i.left+1)])
		i.left -= int64(n)
		if i.left < 0 {
			i.err = tooLarge(i.limit)
		}
	}
	//nolint:errorlint // gzip returns io.EOF itself; a wrapped one means something else
	if _, told := errors.AsType[*connect.Error](i.err); i.err != nil && i.err != io.EOF && !told {
		i.err = encode(context.Background(), unreadable(i.err.Error()))
	}
	return n, i.err
}

func (i *inflater) Close() error { return nil }

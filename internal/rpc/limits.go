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

// Requests are limited twice: the bytes on the wire, and the bytes after decompression. Connect's own limit would
// decompress a gzip bomb to its end to report its size, and would return an error without a reason. Here reading stops
// at the limit.

// tooLarge returns the error for a request that exceeds a limit in bytes.
func tooLarge(limit int64) *connect.Error {
	return encodeError(context.Background(), fault.New(fault.ResourceExhausted, fault.TooLarge,
		"The request is larger than %d bytes.", limit).WithMetadata("limit_bytes", strconv.FormatInt(limit, 10)))
}

// limitBody makes reading a body fail after limit bytes.
func limitBody(w http.ResponseWriter, r *http.Request, limit int64) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = limitedBody{http.MaxBytesReader(w, r.Body, limit)}
	}
}

// limitedBody is a body whose error at the limit is tooLarge.
type limitedBody struct{ io.ReadCloser }

func (b limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = tooLarge(over.Limit)
	}
	return n, err
}

// limitedGzip returns gzip compression that decompresses requests to at most limit bytes.
func limitedGzip(limit int64) connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &gzipReader{limit: limit} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) },
	)
}

// gzipReader is a connect.Decompressor: a gzip.Reader with a limit. It returns errors of Connect, because Connect
// passes those on unchanged.
type gzipReader struct {
	gzip  gzip.Reader
	limit int64
	left  int64
	err   error
}

func (i *gzipReader) Reset(from io.Reader) error {
	i.left, i.err = i.limit, i.gzip.Reset(from)
	return nil // Read returns the error
}

func (i *gzipReader) Read(p []byte) (n int, err error) {
	if i.err == nil {
		// Reading one byte more than is left distinguishes a message of exactly the limit from a longer one.
		n, i.err = i.gzip.Read(p[:min(int64(len(p)), i.left+1)])
		i.left -= int64(n)
		if i.left < 0 {
			i.err = tooLarge(i.limit)
		}
	}
	//nolint:errorlint // gzip returns io.EOF itself; a wrapped one means something else
	if _, encoded := errors.AsType[*connect.Error](i.err); i.err != nil && i.err != io.EOF && !encoded {
		i.err = encodeError(context.Background(), undecodableFault(i.err.Error()))
	}
	return n, i.err
}

func (i *gzipReader) Close() error { return nil }

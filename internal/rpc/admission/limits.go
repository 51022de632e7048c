package admission

// Step 4: the size of a request.

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"connectrpc.com/connect"

	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
)

// Requests are limited twice: the bytes on the wire, and the bytes after decompression. Connect's own limit would
// decompress a gzip bomb to its end to report its size, and would return an error without a reason. Here reading stops
// at the limit.

// defaultMaxBytes limits a request.
const defaultMaxBytes = 256 << 10

// largerRequests are the RPCs whose requests may be larger, and how large. In JSON, a file takes four thirds of its
// size.
var largerRequests = map[string]int64{
	berthv1connect.MemberServiceImportMembersProcedure:                     member.MaxImportBytes*4/3 + defaultMaxBytes,
	berthv1connect.SessionServiceImportSessionsProcedure:                   session.MaxImportBytes*4/3 + defaultMaxBytes,
	berthv1connect.CreditServiceImportSubscriptionsProcedure:               credit.MaxImportBytes*4/3 + defaultMaxBytes,
	berthv1connect.BookingServiceImportBookingsProcedure:                   booking.MaxImportBytes*4/3 + defaultMaxBytes,
	berthv1connect.CatalogServiceUpdateBenefitNumbersProcedure:             1 << 20,   // 10,000 numbers
	berthv1connect.NotificationServiceUpdateNotificationTemplateProcedure:  512 << 10, // HTML of 100,000 characters
	berthv1connect.NotificationServicePreviewNotificationTemplateProcedure: 512 << 10,
}

// requestLimit returns the limit of an RPC's requests, on the wire and decompressed.
func (c *Chain) requestLimit(procedure string) int64 {
	return cmp.Or(c.maxBytes, largerRequests[procedure], defaultMaxBytes)
}

// tooLarge returns the error for a request that exceeds a limit in bytes.
func tooLarge(limit int64) *connect.Error {
	return encodeError(context.Background(), fault.New(fault.ResourceExhausted, fault.TooLarge,
		"The request is larger than %d bytes.", limit).WithMetadata("limit_bytes", strconv.FormatInt(limit, 10)))
}

// limitBody limits how much of a body is read. A request without one has nil, or http.NoBody.
func limitBody(w http.ResponseWriter, r *http.Request, limit int64, held *heldMemory) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = limitedBody{http.MaxBytesReader(w, r.Body, limit), held}
	}
}

// limitedBody is a body whose error at a limit in bytes is tooLarge. Reading it also fails if the caller's requests
// take too much memory together.
type limitedBody struct {
	io.ReadCloser // of http.MaxBytesReader

	held *heldMemory
}

func (b limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = tooLarge(over.Limit)
	}
	if !b.held.addRead(n) {
		err = encodeError(context.Background(), errTooMuchMemory)
	}
	return n, err
}

// A request may grow by decompression to this many bytes, and beyond that by this factor. Messages of people and
// programs compress worse. Files that are imported may compress as well as they like.
const (
	minInflated = 64 << 10
	maxInflated = 50
)

// limitedGzip returns gzip compression that decompresses requests to at most limit bytes, and to at most factor times
// their size if that is more than minInflated. The factor 0 allows any.
func limitedGzip(limit, factor int64) connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &gzipReader{limit: limit, factor: factor} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) },
	)
}

// gzipReader is a connect.Decompressor: a gzip.Reader with limits. It returns errors of Connect, because Connect passes
// those on unchanged.
type gzipReader struct {
	gzip          gzip.Reader
	limit, factor int64
	from          countingReader
	total         int64 // bytes decompressed
	err           error
}

func (r *gzipReader) Reset(from io.Reader) error {
	r.from, r.total = countingReader{from: bufio.NewReader(from)}, 0
	r.err = r.gzip.Reset(&r.from)
	return nil // Read returns the error
}

func (r *gzipReader) Read(p []byte) (n int, err error) {
	if r.err == nil {
		// Reading one byte more than is left distinguishes a message of exactly the limit from a longer one.
		n, r.err = r.gzip.Read(p[:min(int64(len(p)), r.limit-r.total+1)])
		r.total += int64(n)
		limit := r.limit
		if r.factor > 0 {
			limit = min(limit, max(minInflated, r.factor*r.from.bytes))
		}
		if r.total > limit {
			r.err = tooLarge(limit)
		}
	}
	//nolint:errorlint // gzip returns io.EOF itself; a wrapped one means something else
	if _, encoded := errors.AsType[*connect.Error](r.err); r.err != nil && r.err != io.EOF && !encoded {
		r.err = encodeError(context.Background(), undecodableFault(r.err.Error()))
	}
	return n, r.err
}

func (r *gzipReader) Close() error { return nil }

// countingReader counts what is read. It is an io.ByteReader, so that gzip reads no more than it needs.
type countingReader struct {
	from  *bufio.Reader
	bytes int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.bytes += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.bytes++
	}
	return b, err
}

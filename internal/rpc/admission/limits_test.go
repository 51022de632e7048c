package admission

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const testLimit = 64 << 10

func withTestLimit(c *Config) { c.MaxBytes = testLimit }

var errTooBig = apiError{
	Code: connect.CodeResourceExhausted, Reason: "REQUEST_TOO_LARGE", Metadata: map[string]string{"limit_bytes": "65536"},
}

func TestLimits_RejectOversizedRequests(t *testing.T) {
	t.Parallel()
	w := newStubServer(t, withTestLimit)
	token := w.token(t, "owner", tenantA)
	w.events.watch = func(
		context.Context, *v1.WatchEventsRequest, *connect.ServerStream[v1.WatchEventsResponse],
	) error {
		t.Error("the handler was called")
		return nil
	}
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		for name, more := range map[string]connect.ClientOption{
			"plain":   connect.WithClientOptions(),
			"gzipped": connect.WithSendGzip(),
		} {
			failsAs(t, errTooBig, test.Sprint(name))(berthv1connect.NewBookingServiceClient(client, w.url, options, more).
				Book(t.Context(), as(token, &v1.BookRequest{Note: strings.Repeat("x", 2*testLimit)})))
			failsAs(t, errTooBig, test.Sprintf("%s stream", name))(streamError(
				berthv1connect.NewEventServiceClient(client, w.url, options, more).
					WatchEvents(t.Context(), as(token, &v1.WatchEventsRequest{Cursor: strings.Repeat("x", 2*testLimit)})),
			))
		}
	})
}

func TestLimits_RejectGzipBombs(t *testing.T) {
	t.Parallel()
	w := newStubServer(t, withTestLimit)
	token := w.token(t, "owner", tenantA)
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		failsAs(t, errTooBig)(berthv1connect.NewBookingServiceClient(client, w.url, options,
			connect.WithAcceptCompression("gzip", func() connect.Decompressor { return new(gzip.Reader) },
				func() connect.Compressor { return new(bombWriter) }),
			connect.WithSendCompression("gzip"),
		).Book(t.Context(), as(token, &v1.BookRequest{SessionId: someSession})))
	})
}

// bombWriter is a compressor that ignores its input and writes 32 KiB that decompress to 32 MiB.
type bombWriter struct{ to io.Writer }

func (b *bombWriter) Write(p []byte) (int, error) { return len(p), nil }

func (b *bombWriter) Reset(to io.Writer) { b.to = to }

func (b *bombWriter) Close() error {
	return errorOf(b.to.Write(gzipBomb))
}

// gzipBomb repeats a small member, since a gzip stream may have many members.
var gzipBomb = func() []byte {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	_, _ = w.Write(make([]byte, 1<<20))
	_ = w.Close()
	return bytes.Repeat(member.Bytes(), 32)
}()

// A request that is made by hand, and not received, may have no body at all.
func TestLimitBody_LeavesNoBody(t *testing.T) {
	t.Parallel()
	for _, body := range []io.ReadCloser{nil, http.NoBody} {
		r := &http.Request{Body: body}
		limitBody(httptest.NewRecorder(), r, 1, nil)
		test.EqOp(t, body, r.Body)
	}
}

func TestGzipReader_StopsAtLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		level         int
		limit, factor int64
		size          int
		fits          bool
	}{
		{gzip.DefaultCompression, testLimit, 0, 0, true}, {gzip.DefaultCompression, testLimit, 0, 1, true},
		{gzip.DefaultCompression, testLimit, 0, testLimit, true},
		{gzip.DefaultCompression, testLimit, 0, testLimit + 1, false},
		{gzip.NoCompression, 1 << 20, 1, 1 << 20, true}, {gzip.DefaultCompression, 1 << 20, 1, 1 << 20, false},
	} {
		var wire bytes.Buffer
		w := expect.Value(gzip.NewWriterLevel(&wire, tt.level))(t)
		expect.OK(t)(w.Write(make([]byte, tt.size)))
		must.NoError(t, w.Close())
		reader := gzipReader{limit: tt.limit, factor: tt.factor}
		for range 2 { // readers are pooled and used again
			must.NoError(t, reader.Reset(bytes.NewReader(wire.Bytes())))
			got, err := io.ReadAll(&reader)
			test.EqOp(t, (err == nil), tt.fits, test.Sprintf("%+v: %d bytes and %v", tt, len(got), err))
			test.True(t, !tt.fits || len(got) == tt.size, test.Sprintf("%+v: %d bytes and %v", tt, len(got), err))
			test.NoError(t, reader.Close())
		}
	}
	// Of many bytes that compress well, as many pass as the factor allows.
	wide := gzipReader{limit: 32 << 20, factor: maxInflated}
	must.NoError(t, wide.Reset(bytes.NewReader(gzipBomb)))
	got, err := io.ReadAll(&wide)
	test.EqOp(t, connect.CodeResourceExhausted, connect.CodeOf(err))
	test.LessEq(t, max(minInflated, maxInflated*len(gzipBomb))+512, len(got))
	files := gzipReader{limit: 32 << 20}
	must.NoError(t, files.Reset(bytes.NewReader(gzipBomb)))
	test.EqOp(t, 32<<20, expect.Value(io.Copy(io.Discard, &files))(t))

	source := bytes.NewReader(gzipBomb)
	reader := gzipReader{limit: testLimit}
	must.NoError(t, reader.Reset(source))
	failsAs(t, errTooBig)(io.Copy(io.Discard, &reader))
	test.LessEq(t, len(gzipBomb)/4, len(gzipBomb)-source.Len(), test.Sprint("bytes of the bomb were read"))
}

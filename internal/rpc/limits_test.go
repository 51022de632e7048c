package rpc

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

const testLimit = 64 << 10

func withTestLimit(c *Config) { c.MaxBytes = testLimit }

var errTooBig = apiError{connect.CodeResourceExhausted, "REQUEST_TOO_LARGE", map[string]string{"limit_bytes": "65536"}}

func TestLimits_RejectOversizedRequests(t *testing.T) {
	t.Parallel()
	w := newStubServer(t, withTestLimit)
	token := w.token(t, "owner", tenantA)
	w.members.importMembers = func(
		context.Context, *connect.Request[v1.ImportMembersRequest], *connect.ServerStream[v1.ImportMembersResponse],
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
			_, err := berthv1connect.NewBookingServiceClient(client, w.url, options, more).
				Book(t.Context(), as(token, &v1.BookRequest{Note: strings.Repeat("x", 2*testLimit)}))
			if diff := cmp.Diff(errTooBig, apiErrorOf(t, err)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			stream, err := berthv1connect.NewMemberServiceClient(client, w.url, options, more).
				ImportMembers(t.Context(), as(token, &v1.ImportMembersRequest{Csv: bytes.Repeat([]byte("x"), 2*testLimit)}))
			if err == nil {
				for stream.Receive() {
				}
				err = stream.Err()
			}
			if diff := cmp.Diff(errTooBig, apiErrorOf(t, err)); diff != "" {
				t.Errorf("%s stream: %s", name, diff)
			}
		}
	})
}

func TestLimits_RejectGzipBombs(t *testing.T) {
	t.Parallel()
	w := newStubServer(t, withTestLimit)
	token := w.token(t, "owner", tenantA)
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		_, err := berthv1connect.NewBookingServiceClient(client, w.url, options,
			connect.WithAcceptCompression("gzip", func() connect.Decompressor { return new(gzip.Reader) },
				func() connect.Compressor { return new(bombWriter) }),
			connect.WithSendCompression("gzip"),
		).Book(t.Context(), as(token, &v1.BookRequest{SessionId: someSession}))
		if diff := cmp.Diff(errTooBig, apiErrorOf(t, err)); diff != "" {
			t.Error(diff)
		}
	})
}

// bombWriter is a compressor that ignores its input and writes 32 KiB that decompress to 32 MiB.
type bombWriter struct{ to io.Writer }

func (b *bombWriter) Write(p []byte) (int, error) { return len(p), nil }

func (b *bombWriter) Reset(to io.Writer) { b.to = to }

func (b *bombWriter) Close() error {
	_, err := b.to.Write(gzipBomb)
	return err
}

// gzipBomb repeats a small member, since a gzip stream may have many members.
var gzipBomb = func() []byte {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	_, _ = w.Write(make([]byte, 1<<20))
	_ = w.Close()
	return bytes.Repeat(member.Bytes(), 32)
}()

func TestGzipReader_StopsAtLimit(t *testing.T) {
	t.Parallel()
	for size, fits := range map[int]bool{0: true, 1: true, testLimit: true, testLimit + 1: false} {
		var wire bytes.Buffer
		w := gzip.NewWriter(&wire)
		if _, err := w.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		reader := gzipReader{limit: testLimit}
		for range 2 { // readers are pooled and used again
			if err := reader.Reset(bytes.NewReader(wire.Bytes())); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(&reader)
			if fits != (err == nil) || fits && len(got) != size {
				t.Errorf("%d bytes: %d bytes and %v", size, len(got), err)
			}
			if err := reader.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	source := bytes.NewReader(gzipBomb)
	reader := gzipReader{limit: testLimit}
	if err := reader.Reset(source); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, &reader)
	if diff := cmp.Diff(errTooBig, apiErrorOf(t, err)); diff != "" {
		t.Error(diff)
	}
	if read := len(gzipBomb) - source.Len(); read > len(gzipBomb)/4 {
		t.Errorf("%d of %d bytes of the bomb were read", read, len(gzipBomb))
	}
}

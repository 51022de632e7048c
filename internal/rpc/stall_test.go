package rpc

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	wire "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
)

// stalling is a client that does less than the server waits for.
type stalling struct {
	*testing.T
	net.Conn

	mu     *sync.Mutex // held while frames are written
	frames *wire.Framer
}

// write sends frames, unless the server has left.
func (s stalling) write(frames ...func() error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, write := range frames {
		err = errors.Join(err, write())
	}
	return err
}

// slowly does something now and then, until it fails.
func (s stalling) slowly(do func() error) {
	for tick := time.Tick(10 * time.Millisecond); do() == nil; <-tick {
	}
}

func second(_ int, err error) error { return err }

// head sends the headers of a request over HTTP/2, and reads whatever the server sends.
func (s stalling) head(method string, end bool) {
	_ = s.write( // if it fails, no request arrives
		func() error { return second(s.Write([]byte(wire.ClientPreface))) },
		func() error { return s.frames.WriteSettings() },
		func() error {
			return s.frames.WriteHeaders(wire.HeadersFrameParam{
				StreamID: 1, BlockFragment: fieldsOf(method), EndHeaders: true, EndStream: end,
			})
		},
	)
	go func() { // a client that is alive: it answers
		for {
			frame, err := s.frames.ReadFrame()
			if err != nil {
				return
			}
			switch f := frame.(type) {
			case *wire.PingFrame:
				_ = s.write(func() error { return s.frames.WritePing(true, f.Data) }) // the server has left
			case *wire.SettingsFrame:
				if !f.IsAck() {
					_ = s.write(s.frames.WriteSettingsAck) // as above
				}
			}
		}
	}()
}

func fieldsOf(method string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":method", method}, {":scheme", "http"}, {":authority", "x"}, {":path", "/"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // a buffer has no errors
	}
	return block.Bytes()
}

// Who stops to send or to read, or does so byte by byte, holds nothing for longer than the timeouts, over HTTP/1.1 and
// over HTTP/2, which gRPC uses.
func TestServer_EndsWhatMakesNoProgress(t *testing.T) {
	t.Parallel()
	const (
		get  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx"
	)
	one := make([]byte, 1)
	for name, stall := range map[string]func(s stalling){
		"a body that ends early": func(s stalling) { _, _ = s.Write([]byte(post)) },
		"a body byte by byte": func(s stalling) {
			_, _ = s.Write([]byte(post))
			s.slowly(func() error { return second(s.Write(one)) })
		},
		"a reader that stops": func(s stalling) { _, _ = s.Write([]byte(get)) },
		"a reader byte by byte": func(s stalling) {
			_, _ = s.Write([]byte(get))
			s.slowly(func() error { return second(s.Read(make([]byte, 1))) })
		},
		"HTTP/2: a body that ends early": func(s stalling) { s.head(http.MethodPost, false) },
		"HTTP/2: a body byte by byte": func(s stalling) {
			s.head(http.MethodPost, false)
			s.slowly(func() error { return s.write(func() error { return s.frames.WriteData(1, false, one) }) })
		},
		"HTTP/2: a reader that stops": func(s stalling) { s.head(http.MethodGet, true) },
		"HTTP/2: a reader byte by byte": func(s stalling) {
			s.head(http.MethodGet, true)
			s.slowly(func() error { return s.write(func() error { return s.frames.WriteWindowUpdate(1, 1) }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const timeout = 200 * time.Millisecond
			ended := make(chan error, 1)
			server := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				for n := 0; err == nil && n < 64<<20; n += 1 << 20 { // more than all buffers hold
					_, err = w.Write(make([]byte, 1<<20))
				}
				ended <- err
			}), slog.New(slog.DiscardHandler), traffic.ConnLimits{WriteTimeout: timeout})
			test.EqOp(t, 30*time.Second, server.ReadTimeout)
			server.ReadTimeout = timeout
			on := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
			served := make(chan error, 1)
			go func() { served <- server.Serve(on) }()
			client := expect.Value(net.Dial("tcp", on.Addr().String()))(t)
			stalled := make(chan struct{})
			go func() {
				defer close(stalled)
				stall(stalling{t, client, new(sync.Mutex), wire.NewFramer(client, client)})
			}()
			test.Error(t, <-ended)
			must.NoError(t, client.Close())
			<-stalled
			must.NoError(t, server.Close())
			test.ErrorIs(t, <-served, http.ErrServerClosed)
		})
	}
}

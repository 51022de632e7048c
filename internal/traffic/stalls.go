package traffic

import (
	"cmp"
	"net/http"
	"sync"
	"time"
)

// LimitStalls ends responses over HTTP/2 that the client does not read. There the deadline of the connection is not
// enough, because a client can keep the connection alive and leave one stream unread. The timeout begins anew with each
// part of a response that the client accepts.
func LimitStalls(next http.Handler, timeout time.Duration) http.Handler {
	timeout = cmp.Or(timeout, DefaultWriteTimeout)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		s := &stallWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
		next.ServeHTTP(s, r)
		// The server sends the rest of the response after the handler returns.
		_ = s.control.SetWriteDeadline(time.Now().Add(timeout)) // it fails if the stream has ended
	})
}

// stallWriter writes in parts, each of which the client must accept within the timeout.
type stallWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration

	mu    sync.Mutex
	timer *time.Timer
	since time.Time // start of the write in progress, zero between writes
}

// maxPart is the size of a part in bytes. It is as large as the smallest window that clients commonly grant.
const maxPart = 64 << 10

// Write implements http.ResponseWriter.
func (w *stallWriter) Write(p []byte) (n int, err error) {
	for {
		part := p[n:min(n+maxPart, len(p))]
		var written int
		w.limit(func() { written, err = w.ResponseWriter.Write(part) })
		n += written
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// Flush implements http.Flusher.
func (w *stallWriter) Flush() {
	w.limit(func() { _ = w.control.Flush() }) // the next write fails, too
}

// Unwrap lets a http.ResponseController use the writer.
func (w *stallWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// limit aborts the response if write takes too long. A timer of the writer's own costs little if nothing stalls; a
// deadline of the stream is a message to the goroutine that serves the connection.
func (w *stallWriter) limit(write func()) {
	w.start()
	defer w.stop()
	write()
}

func (w *stallWriter) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(w.timeout, w.abort)
	} else {
		w.timer.Reset(w.timeout)
	}
}

func (w *stallWriter) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.since = time.Time{}
}

// abort makes the write in progress fail. It may run late. It must do nothing to a later write, or after the last one,
// when the stream can be another request's.
func (w *stallWriter) abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.since.IsZero() && time.Since(w.since) >= w.timeout {
		_ = w.control.SetWriteDeadline(time.Unix(0, 0)) // it fails if the stream has ended
	}
}

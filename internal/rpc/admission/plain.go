package admission

// After the end: errors in JSON have their reason where programs without protobuf can read it.

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
)

// plainErrors writes a response, and adds the reason and the metadata of an error to its JSON. Connect has them in the
// details only, as protobuf. Its protocol sends errors as JSON whatever the encoding of messages: as the body of a
// unary response, and in the message that ends a stream. https://connectrpc.com/docs/protocol
type plainErrors struct {
	http.ResponseWriter

	begun  bool
	status int           // of a unary error, which finish sends
	body   *bytes.Buffer // of a unary error; nil otherwise
	stream *endOfStream  // nil unless the response is a stream of Connect
}

// WriteHeader implements http.ResponseWriter.
func (w *plainErrors) WriteHeader(status int) {
	w.begun = true
	switch contentType := w.Header().Get("Content-Type"); {
	case status >= http.StatusBadRequest && contentType == "application/json":
		w.status, w.body = status, new(bytes.Buffer)
		return
	case strings.HasPrefix(contentType, "application/connect+"):
		w.stream = new(endOfStream)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *plainErrors) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.body != nil:
		return w.body.Write(p)
	case w.stream != nil:
		if rest := w.stream.next(p); len(rest) > 0 {
			if _, err := w.ResponseWriter.Write(rest); err != nil {
				return 0, err
			}
		}
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *plainErrors) Flush() {
	if w.body == nil {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // the next write fails, too
	}
}

// Unwrap lets a http.ResponseController use the writer.
func (w *plainErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// finish sends a unary error.
func (w *plainErrors) finish() {
	if w.body == nil {
		return
	}
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(withReason(w.body.Bytes())) // the client has left
}

// Flags of an enveloped message of Connect, and the size of its head.
const (
	flagCompressed  = 1
	flagEndOfStream = 2
	envelopeHead    = 5
)

// endOfStream passes the enveloped messages of a stream on, and rewrites the one that ends it.
type endOfStream struct {
	head []byte // of a message, as far as it has come
	left int    // bytes of the message that are still to come
	last []byte // the message that ends the stream, as far as it has come; nil until it begins
}

// next takes the next bytes of the stream, and returns those to send.
func (s *endOfStream) next(p []byte) []byte {
	if s.passes(p) {
		return p
	}
	var out []byte
	for len(p) > 0 {
		if s.left > 0 {
			n := min(s.left, len(p))
			s.left -= n
			if s.last == nil {
				out = append(out, p[:n]...)
			} else if s.last = append(s.last, p[:n]...); s.left == 0 {
				out = append(out, s.end()...)
			}
			p = p[n:]
			continue
		}
		n := min(envelopeHead-len(s.head), len(p))
		s.head, p = append(s.head, p[:n]...), p[n:]
		if len(s.head) < envelopeHead {
			break
		}
		s.left = int(binary.BigEndian.Uint32(s.head[1:]))
		if s.head[0]&flagEndOfStream != 0 && s.left > 0 {
			s.last = make([]byte, 0, s.left)
			continue
		}
		out, s.head = append(out, s.head...), s.head[:0]
	}
	return out
}

// passes reports whether bytes are part of a message, or one message, that does not end the stream. Nearly all are, and
// need not be copied.
func (s *endOfStream) passes(p []byte) bool {
	switch {
	case s.left > 0:
		if s.last != nil || s.left < len(p) {
			return false
		}
		s.left -= len(p)
		return true
	case len(s.head) > 0 || len(p) < envelopeHead || p[0]&flagEndOfStream != 0:
		return false
	}
	return int64(binary.BigEndian.Uint32(p[1:])) == int64(len(p)-envelopeHead)
}

// end returns the message that ends the stream, with the reason of its error.
func (s *endOfStream) end() []byte {
	flags, data := s.head[0], s.last
	if flags&flagCompressed != 0 {
		plain, err := gunzip(data)
		if err != nil {
			return append(s.head, data...)
		}
		flags, data = flags&^flagCompressed, plain
	}
	var end struct {
		Error    json.RawMessage `json:"error,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	if err := json.Unmarshal(data, &end); err == nil && end.Error != nil {
		end.Error = withReason(end.Error)
		if written, err := json.Marshal(end); err == nil {
			data = written
		}
	}
	return append(binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(data))), data...)
}

func gunzip(data []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// plainError is an error in JSON, with what Connect does not have: the reason and the metadata.
type plainError struct {
	Code     string            `json:"code"`
	Message  string            `json:"message,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Details  []json.RawMessage `json:"details,omitempty"`
}

// withReason adds the reason and the metadata to an error in JSON. What is no error of ours stays as it is.
func withReason(data []byte) []byte {
	var e plainError
	if err := json.Unmarshal(data, &e); err != nil {
		return data
	}
	for _, detail := range e.Details {
		if info := errorInfo(detail); info != nil {
			e.Reason, e.Metadata = info.GetReason(), info.GetMetadata()
			if written, err := json.Marshal(e); err == nil {
				return written
			}
		}
	}
	return data
}

// errorInfo returns the ErrorInfo in a detail of an error; nil if it has another type, or is not ours.
func errorInfo(detail []byte) *errdetails.ErrorInfo {
	var d struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	info := new(errdetails.ErrorInfo)
	if err := json.Unmarshal(detail, &d); err != nil || d.Type != string(info.ProtoReflect().Descriptor().FullName()) {
		return nil
	}
	value, err := base64.RawStdEncoding.DecodeString(d.Value)
	if err != nil || proto.Unmarshal(value, info) != nil || info.GetDomain() != errorDomain {
		return nil
	}
	return info
}

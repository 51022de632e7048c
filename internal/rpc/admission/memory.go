package admission

// Steps 3 and 4, and the end: how many calls are in progress, and the memory that they take.

import (
	"cmp"
	"net/http"
	"net/netip"

	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/traffic"
)

// Limits of what callers have in progress. A request is in memory from its first byte until it is answered, and its
// sender decides how long that takes. So is a response until it is read.
const (
	// defaultCalls is how many calls of a caller are in progress, streams included: the burst that its rate allows.
	defaultCalls = 1000
	// defaultCallerMemory is how many bytes they take: seven of the largest requests, or some forty of the largest pages.
	defaultCallerMemory = 64 << 20
	// defaultRequestMemory is how many bytes the requests of all callers take.
	defaultRequestMemory = 256 << 20
	// freeMemory is what each request and response may take without being counted. Most are smaller.
	freeMemory = 16 << 10
	// maxPublicBytes limits the requests of those who prove nothing. They have a key or a link.
	maxPublicBytes = 64 << 10
)

// Memory limits what callers have in progress. Zero is the default of each.
type Memory struct {
	Calls    int // of a caller
	Caller   int // bytes of the requests and responses of a caller
	Requests int // bytes of the requests of all callers
}

// memoryKey is a caller, or an address without a proven caller.
type memoryKey struct {
	caller  callerKey
	address netip.Prefix
}

// memory counts what callers have in progress.
type memory struct {
	calls    traffic.Counter[memoryKey]
	callers  traffic.Counter[memoryKey]
	requests traffic.Counter[struct{}]
}

func newMemory(c Memory) *memory {
	m := new(memory)
	m.calls.Max = cmp.Or(c.Calls, defaultCalls)
	m.callers.Max = cmp.Or(c.Caller, defaultCallerMemory)
	m.requests.Max = cmp.Or(c.Requests, defaultRequestMemory)
	return m
}

// heldMemory is what one call takes. One goroutine at a time uses it.
type heldMemory struct {
	*memory

	call *request.Call
	// inflates is how many times its size a request may take after decompression, and most the bytes at which that ends.
	inflates, most int
	values         int // that the request may have

	read, counted int // bytes of the request, and those that are counted
	key           memoryKey
	entered       bool
}

// hold returns what a call takes, nothing so far. Limit is that of the request after decompression, and values how many
// it may have.
func (m *memory) hold(call *request.Call, r *http.Request, limit int64, values int) *heldMemory {
	h := &heldMemory{memory: m, call: call, most: int(limit), values: values}
	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		if encoding := r.Header.Get(name); encoding != "" && encoding != "identity" {
			h.inflates = maxInflated
			if takesFiles[r.URL.Path] {
				h.inflates = int(limit)
			}
		}
	}
	return h
}

// enter counts a call whose caller is known, or has nothing to prove. It is called before the body is read.
func (h *heldMemory) enter() error {
	if principal := h.call.Principal; principal.Subject != "" {
		h.key = memoryKey{caller: keyOf(principal)}
	} else {
		h.key = memoryKey{address: traffic.Network(h.call.Client)}
	}
	if h.entered = h.calls.Add(h.key, 1); !h.entered {
		return busy("Too many calls of this caller are in progress.")
	}
	return nil
}

// addRead counts n more bytes of the request. It returns false if that is too much.
func (h *heldMemory) addRead(n int) bool {
	h.read += n
	more := h.takes() - freeMemory - h.counted
	if more <= 0 {
		return true
	}
	if !h.callers.Add(h.key, more) {
		return false
	}
	if !h.requests.Add(struct{}{}, more) {
		h.callers.Remove(h.key, more)
		return false
	}
	h.counted += more
	return true
}

// takes returns what the request takes that was read so far: as it was sent, decompressed, and as a message.
func (h *heldMemory) takes() int {
	decompressed := min(h.most, h.read*h.inflates)
	message := max(h.read, decompressed)
	const smallest = 2 // bytes of a value
	return h.read + decompressed + message + min(h.values, message/smallest)*valueBytes
}

// write counts n bytes of the response while they are written. If the caller leaves too much unread, it ends the
// response: an error would not tell the client that it is incomplete.
func (h *heldMemory) write(n int, write func()) {
	if n -= freeMemory; n > 0 {
		if !h.callers.Add(h.key, n) {
			panic(http.ErrAbortHandler)
		}
		defer h.callers.Remove(h.key, n)
	}
	write()
}

// leave ends the call.
func (h *heldMemory) leave() {
	if h.entered {
		h.calls.Remove(h.key, 1)
	}
	h.callers.Remove(h.key, h.counted)
	h.requests.Remove(struct{}{}, h.counted)
}

var errTooMuchMemory = busy("The requests in progress are too large together.")

package docs_test

import (
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// newerPython is what the Python program on the page does, in the test, with a server that is newer than it.
const newerPython = `
got = call("BookingService/GetBooking", {"bookingId": "b"}, "token")
print(got["booking"]["id"], got["booking"]["status"])
try:
    call("BookingService/CancelBooking", {"bookingId": "b"}, "token")
except Refused as refused:
    print(refused.code, refused.reason, refused.metadata)
for message in watch({}, "token"):
    print([event["type"] for event in message.get("events", [])])
`

func TestPython_ReadsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	page := string(expect.Value(os.ReadFile("partners.md"))(t))
	_, rest, found := strings.Cut(page, "```python\n")
	must.True(t, found)
	program, _, found := strings.Cut(rest, "token = call(")
	must.True(t, found)

	mux := http.NewServeMux()
	answer := func(rpc, kind string, status int, body string) {
		mux.HandleFunc("POST /berth.v1."+rpc, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body)) // who is gone misses nothing
		})
	}
	answer("BookingService/GetBooking", "application/json", http.StatusOK,
		`{"booking": {"id": "b", "status": "BOOKING_STATUS_TIDAL", "tide": "low"}}`)
	answer("BookingService/CancelBooking", "application/json", http.StatusBadRequest,
		`{"code": "failed_precondition", "message": "", "reason": "TIDE_TOO_LOW", "metadata": {"depth_metres": "2"}}`)
	answer("EventService/WatchEvents", "application/connect+json", http.StatusOK,
		frame(0, `{"events": [{"id": "e", "type": "EVENT_TYPE_TIDE", "tide": {}}], "cursor": "1"}`)+frame(2, `{"tide": {}}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	file := filepath.Join(t.TempDir(), "partner.py")
	must.NoError(t, os.WriteFile(file, []byte(program+newerPython), 0o600))
	python := exec.CommandContext(t.Context(), "python3", file)
	python.Env = append(os.Environ(), "ADDRESS="+server.URL)
	out, err := python.CombinedOutput()
	must.NoError(t, err, must.Sprintf("%s", out))
	test.EqOp(t, "b BOOKING_STATUS_TIDAL\nfailed_precondition TIDE_TOO_LOW {'depth_metres': '2'}\n['EVENT_TYPE_TIDE']\n",
		string(out))
}

// frame returns a message of a stream: a flag, a length and JSON.
func frame(flag byte, message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message)))) + message
}

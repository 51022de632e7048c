package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/berthhq/berth/internal/pgtest"
)

// A recording plays one area of the script and writes down what a client sees.
type recording struct {
	t       *testing.T
	db      *pgtest.DB
	data    string // the server's keys
	server  *command
	address string
	client  *http.Client
	offset  time.Duration // of the server's clock
	clock   time.Time     // what the server's clock said when it was set
	text    strings.Builder
	names   *names
	titles  map[string]bool
	silent  bool // nothing is written down
	// A call is not followed by waiting for its messages.
	unsettled bool
}

func newRecording(t *testing.T) *recording {
	t.Helper()
	return &recording{
		t: t, db: pgtest.New(t), data: t.TempDir(), client: &http.Client{Transport: new(http.Transport)},
		names: newNames(), titles: make(map[string]bool),
	}
}

// A person is who calls.
type person struct {
	name, token string
	id          string // of the member or service account
}

var anonymous = person{name: "anonymous"}

// The scripts take place in June 2024, in Berlin. The tenant's clocks show summer time, and no day is a holiday.
var berlin = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
})

// on is a time of day on a day of June 2024. The 3rd is a Monday.
func on(day int, clock string) time.Time {
	at, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2024, time.June, day, at.Hour(), at.Minute(), 0, 0, berlin())
}

// sceneLength is how long the server may run at one setting of its clock. Times are written down to the minute, and all that
// begins in one minute has to end in it.
const sceneLength = 55 * time.Second

// at starts the server anew, with its clock at a whole minute. What has fallen due in between happens then.
func (r *recording) at(clock time.Time) {
	r.t.Helper()
	r.stop()
	r.clock = clock
	r.offset = time.Until(clock)
	r.server, r.address = serving(r.t, r.db, r.data, "--public-url", "https://berth.example", "--clock-offset="+r.offset.String())
	if !r.silent {
		fmt.Fprintf(&r.text, "=== %s\n\n", clock.In(berlin()).Format("Monday 2 January 2006, 15:04"))
	}
	r.settle()
}

func (r *recording) now() time.Time { return time.Now().Add(r.offset) }

func (r *recording) stop() {
	r.t.Helper()
	if r.server == nil {
		return
	}
	r.settle()
	r.unambiguous()
	r.client.CloseIdleConnections()
	r.server.stop()
	if status := r.server.ended(r.t); status != 0 {
		r.t.Fatalf("the server ended with status %d", status)
	}
	r.server = nil
}

// silently does what is not to be written down.
func (r *recording) silently(do func()) {
	before := r.silent
	r.silent = true
	do()
	r.silent = before
}

// settle waits until the events of all transactions are known to those who send messages, and all messages that are due are sent.
func (r *recording) settle() {
	r.t.Helper()
	r.wait("messages are settled", `
select not exists (
         select from events e where not exists (
           select from event_consumers c where c.tenant_id = e.tenant_id and (c.xid, c.event_id) >= (e.xid, e.id)))
   and not exists (select from notices where done_at is null and (sending or due_at <= $1))
   and not exists (select from policies where rules_due)`, func() []any { return []any{r.now()} })
}

// until waits until so many events of a type have happened since the clock was set.
func (r *recording) until(event string, n int) {
	r.t.Helper()
	r.wait(fmt.Sprintf("%d of %s", n, event), `select count(*) >= $1 from events where type = $2 and occurred_at >= $3`,
		func() []any { return []any{n, event, r.clock} })
	r.settle()
}

// unambiguous fails where something falls due in what is left of the minute: whether it has depends on how fast the machine is.
func (r *recording) unambiguous() {
	r.t.Helper()
	var due int
	if err := r.db.Owner.QueryRow(r.t.Context(), `
select (select count(*) from notices where done_at is null and due_at between $1 and $2)
     + (select count(*) from bookings where status = 'PENDING' and hold_expires_at between $1 and $2)
     + (select count(*) from waitlist_offers where status = 'LIVE' and expires_at between $1 and $2)`,
		r.clock, r.clock.Add(time.Minute)).Scan(&due); err != nil {
		r.t.Fatal(err)
	}
	if due > 0 {
		r.t.Errorf("%d things fall due in the minute of %s", due, r.clock)
	}
}

func (r *recording) wait(what, sql string, args func() []any) {
	r.t.Helper()
	eventually(r.t, what, func() (so bool) {
		r.inTime(what)
		if err := r.db.Owner.QueryRow(r.t.Context(), sql, args()...).Scan(&so); err != nil {
			r.t.Fatal(err)
		}
		return so
	})
}

// inTime fails where times would no longer be those of the same minute.
func (r *recording) inTime(what string) {
	r.t.Helper()
	if r.now().Sub(r.clock) > sceneLength {
		r.t.Fatalf("%s: not within %s; set the clock anew before it, or the machine is too slow", what, sceneLength)
	}
}

// methodsByRequest finds the RPC by its request: each has a message of its own.
var methodsByRequest = sync.OnceValue(func() map[protoreflect.FullName]protoreflect.MethodDescriptor {
	all := make(map[protoreflect.FullName]protoreflect.MethodDescriptor)
	protoregistry.GlobalFiles.RangeFilesByPackage("berth.v1", func(file protoreflect.FileDescriptor) bool {
		for s := range file.Services().Len() {
			methods := file.Services().Get(s).Methods()
			for m := range methods.Len() {
				all[methods.Get(m).Input().FullName()] = methods.Get(m)
			}
		}
		return true
	})
	return all
})

func shortName(m protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("%s/%s", m.Parent().Name(), m.Name())
}

// A reply is what came back: one message, or of a stream all of them, or an error.
type reply struct {
	messages [][]byte // JSON
	header   http.Header
	failure  *failure
}

// ok makes a call that has to succeed, and gives the answer.
func ok[A proto.Message](r *recording, who person, title string, request proto.Message, headers ...string) A {
	r.t.Helper()
	got := r.call(who, title, request, headers...)
	if got.failure != nil {
		r.t.Fatalf("%s: %s %s: %s", title, got.failure.Code, got.failure.reason(), got.failure.Message)
	}
	answer := (*new(A)).ProtoReflect().New().Interface()
	if err := protojson.Unmarshal(got.messages[len(got.messages)-1], answer); err != nil {
		r.t.Fatal(err)
	}
	return answer.(A) //nolint:forcetypeassert // made of it
}

// made is ok without a title, for what is not written down.
func made[A proto.Message](r *recording, who person, request proto.Message, headers ...string) A {
	r.t.Helper()
	return ok[A](r, who, "", request, headers...)
}

// do makes a call whose answer the script does not need.
func (r *recording) do(who person, title string, request proto.Message, headers ...string) {
	r.t.Helper()
	if got := r.call(who, title, request, headers...); got.failure != nil {
		r.t.Errorf("%s: %s %s: %s", title, got.failure.Code, got.failure.reason(), got.failure.Message)
	}
}

// refused makes a call that has to be refused for a reason.
func (r *recording) refused(who person, title, reason string, request proto.Message, headers ...string) {
	r.t.Helper()
	switch got := r.call(who, title, request, headers...); {
	case got.failure == nil:
		r.t.Errorf("%s: not refused: %s", title, got.messages)
	case got.failure.reason() != reason:
		r.t.Errorf("%s: %s %s: %s", title, got.failure.Code, got.failure.reason(), got.failure.Message)
	}
}

// call makes a call and writes down what came of it. The title is the request's id, too, so the audit log tells which call did what.
func (r *recording) call(who person, title string, request proto.Message, headers ...string) reply {
	r.t.Helper()
	if r.titles[title] && title != "" {
		r.t.Fatalf("two calls have the title %q", title)
	}
	r.titles[title] = true
	r.inTime(title)
	method := methodsByRequest()[request.ProtoReflect().Descriptor().FullName()]
	body, err := protojson.Marshal(request)
	if err != nil {
		r.t.Fatal(err)
	}
	got := r.post(who, method, body, append([]string{"X-Request-Id", cmp.Or(slug(title), silentID)}, headers...))
	if r.silent {
		r.settleCall()
		return got
	}
	fmt.Fprintf(&r.text, "--- %s\n%s → %s%s\n", title, who.name, shortName(method), r.headersOf(headers))
	r.write(body)
	r.writeReply(got)
	r.settleCall()
	return got
}

func (r *recording) settleCall() {
	r.t.Helper()
	if !r.unsettled {
		r.settle()
	}
}

// silentID is the request's id of calls that are not written down.
const silentID = "silent"

func (r *recording) headersOf(headers []string) string {
	var text strings.Builder
	for i := 0; i+1 < len(headers); i += 2 {
		fmt.Fprintf(&text, " [%s: %s]", headers[i], headers[i+1])
	}
	return text.String()
}

// slug makes a request's id of a title.
func slug(title string) string {
	text := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(title), "-"), "-")
	return text[:min(len(text), 60)]
}

// post sends a request as Connect does, in JSON.
func (r *recording) post(who person, method protoreflect.MethodDescriptor, body []byte, headers []string) reply {
	r.t.Helper()
	contentType := "application/json"
	if method.IsStreamingServer() {
		contentType, body = "application/connect+json", enveloped(body)
	}
	response := r.open(r.t.Context(), who, method, contentType, body, headers)
	defer response.Body.Close()
	if method.IsStreamingServer() {
		return r.readStream(response, func(reply) bool { return false })
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	got := reply{header: response.Header}
	if response.StatusCode == http.StatusOK {
		got.messages = [][]byte{answer}
	} else {
		got.failure = r.failureOf(answer)
	}
	return got
}

func (r *recording) open(ctx context.Context, who person, method protoreflect.MethodDescriptor, contentType string, body []byte, headers []string) *http.Response {
	r.t.Helper()
	url := fmt.Sprintf("%s/%s/%s", r.address, method.Parent().FullName(), method.Name())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	if who.token != "" {
		request.Header.Set("Authorization", "Bearer "+who.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	return response
}

// enveloped is a message as streams carry it: flags, length, bytes.
func enveloped(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// endOfStream is the flag of the last message of a stream, which says how it ended.
const endOfStream = 2

// readStream reads messages until the stream ends, or enough says so.
func (r *recording) readStream(response *http.Response, enough func(reply) bool) reply {
	r.t.Helper()
	got := reply{header: response.Header}
	for !enough(got) {
		var prefix [5]byte
		if _, err := io.ReadFull(response.Body, prefix[:]); err != nil {
			r.t.Fatalf("the stream breaks off: %v", err)
		}
		message := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
		if _, err := io.ReadFull(response.Body, message); err != nil {
			r.t.Fatalf("the stream breaks off: %v", err)
		}
		if prefix[0]&endOfStream == 0 {
			got.messages = append(got.messages, message)
			continue
		}
		var end struct{ Error json.RawMessage }
		if err := json.Unmarshal(message, &end); err != nil {
			r.t.Fatal(err)
		}
		if end.Error != nil {
			got.failure = r.failureOf(end.Error)
		}
		return got
	}
	return got
}

func (r *recording) failureOf(body []byte) *failure {
	r.t.Helper()
	f := new(failure)
	if err := errors.Join(json.Unmarshal(body, f), f.read()); err != nil {
		r.t.Fatalf("%v: %s", err, body)
	}
	return f
}

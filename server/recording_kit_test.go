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

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/provider/dnstest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A recording runs the script of one area and records what clients see.
type recording struct {
	t       *testing.T
	db      *pgtest.DB
	data    string // the server's keys
	dns     *dnstest.Server
	server  *command
	address string
	client  *http.Client
	offset  time.Duration // of the server's clock
	clock   time.Time     // the time to which the server's clock was set
	text    strings.Builder
	names   *placeholders
	titles  map[string]bool
	tokens  map[caller]string
	kept    map[string]any // ids of named objects and whole responses, for later requests
	before  map[any]bool   // ids of log entries from before the script
	// noSettle skips waiting for messages after each call.
	noSettle bool
	// wholeMessages records whole mails, not only their subjects.
	wholeMessages bool
}

func newRecording(t *testing.T) *recording {
	t.Helper()
	dns := expect.Value(dnstest.Start())(t)
	t.Cleanup(dns.Close)
	return &recording{
		t: t, db: pgtest.New(t), data: t.TempDir(), dns: dns, client: &http.Client{Transport: new(http.Transport)},
		names: newPlaceholders(), titles: make(map[string]bool), tokens: map[caller]string{anonymous: ""},
		kept: make(map[string]any), before: make(map[any]bool),
	}
}

// The scripts take place in June 2024, in Berlin. The tenant's clocks show summer time, and no day is a holiday.
var berlin = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
})

// on returns a time of day on a day of June 2024 in Berlin. The 3rd is a Monday.
func on(day int, clock string) time.Time {
	at, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2024, time.June, day, at.Hour(), at.Minute(), 0, 0, berlin())
}

// sceneLength limits how long the server may run at one setting of its clock. Times are recorded by the minute, so
// everything has to happen within the minute that was set.
const sceneLength = 55 * time.Second

// startAt restarts the server with its clock at a whole minute. It then does the work that became due in between.
func (r *recording) startAt(clock time.Time) {
	r.t.Helper()
	r.stop()
	r.clock = clock
	r.offset = time.Until(clock)
	r.server, r.address = startServe(
		r.t, r.db, r.data, "--public-url", "https://berth.example", "--clock-offset="+r.offset.String(),
		"--dns="+r.dns.Address,
	)
	fmt.Fprintf(&r.text, "=== %s\n\n", clock.In(berlin()).Format("Monday 2 January 2006, 15:04"))
	r.settle()
}

func (r *recording) now() time.Time { return time.Now().Add(r.offset) }

func (r *recording) stop() {
	r.t.Helper()
	if r.server == nil {
		return
	}
	r.settle()
	r.checkNothingDue()
	r.client.CloseIdleConnections()
	r.server.stop()
	must.EqOp(r.t, 0, r.server.wait(r.t), must.Sprint("the server ended with status"))
	r.server = nil
}

// settle waits until imports have ended, notices are planned for all events and all messages of this minute are sent.
// It does not ask for those that are due now: a notice that is planned while it asks is due a moment later.
func (r *recording) settle() {
	r.t.Helper()
	r.wait("messages are settled", `
select not exists (
         select from events e where not exists (
           select from event_consumers c where c.tenant_id = e.tenant_id and (c.xid, c.event_id) >= (e.xid, e.id)))
   and not exists (select from imports where due_at is not null)
   and not exists (select from notices where done_at is null and (sending or due_at <= $1))
   and not exists (select from policies where rules_due)`, func() []any { return []any{r.clock.Add(time.Minute)} })
}

// waitForEvents waits until n events of a type have occurred since the clock was set.
func (r *recording) waitForEvents(event string, n int) {
	r.t.Helper()
	r.wait(fmt.Sprintf("%d of %s", n, event), `select count(*) >= $1 from events where type = $2 and occurred_at >= $3`,
		func() []any { return []any{n, event, r.clock} })
	r.settle()
}

// checkNothingDue fails if something becomes due in the current minute: whether it happens would depend on the speed of
// the machine.
func (r *recording) checkNothingDue() {
	r.t.Helper()
	var due int
	must.NoError(r.t, r.db.Owner.QueryRow(r.t.Context(), `
select (select count(*) from notices where done_at is null and due_at between $1 and $2)
     + (select count(*) from bookings where status = 'PENDING' and hold_expires_at between $1 and $2)
     + (select count(*) from waitlist_offers where status = 'LIVE' and expires_at between $1 and $2)`,
		r.clock, r.clock.Add(time.Minute)).Scan(&due))
	test.True(r.t, due <= 0, test.Sprintf("%d notices, holds or offers become due in the minute of %s", due, r.clock))
}

func (r *recording) wait(what, sql string, args func() []any) {
	r.t.Helper()
	eventually(r.t, what, func() (so bool) {
		r.checkScene(what)
		must.NoError(r.t, r.db.Owner.QueryRow(r.t.Context(), sql, args()...).Scan(&so))
		return so
	})
}

// checkScene fails if times would no longer be in the same minute.
func (r *recording) checkScene(what string) {
	r.t.Helper()
	must.True(
		r.t, r.now().Sub(r.clock) <= sceneLength,
		must.Sprintf("%s: not within %s; set the clock again before it, or the machine is too slow", what, sceneLength),
	)
}

// methodsByRequest returns the RPCs by the names of their requests, which are unique.
var methodsByRequest = sync.OnceValue(func() map[protoreflect.FullName]protoreflect.MethodDescriptor {
	all := make(map[protoreflect.FullName]protoreflect.MethodDescriptor)
	for _, p := range procedures() {
		all[p.Input().FullName()] = p.MethodDescriptor
	}
	return all
})

func methodOf(request proto.Message) protoreflect.MethodDescriptor {
	return methodsByRequest()[request.ProtoReflect().Descriptor().FullName()]
}

func shortName(m protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("%s/%s", m.Parent().Name(), m.Name())
}

// A callResult is the result of a call: one message, all messages of a stream, or an error.
type callResult struct {
	messages [][]byte // JSON
	header   http.Header
	err      *callError
}

// send sends the request of an exchange and records the result. The title is also the request's id, so the audit log
// shows which call caused an entry.
func (r *recording) send(e exchange) callResult {
	r.t.Helper()
	must.False(r.t, r.titles[e.title] && e.title != "", must.Sprintf("two calls have the title %q", e.title))
	r.titles[e.title] = true
	r.checkScene(e.title)
	body := r.bodyOf(e.request)
	got := r.post(e.by, methodOf(e.request), body,
		append([]string{"X-Request-Id", cmp.Or(requestIDOf(e.title), silentID)}, e.headers...))
	if e.title != "" {
		r.writeCall(e.title, e.by, methodOf(e.request), headersOf(e.headers), body)
		r.writeResult(got)
	}
	if !r.noSettle {
		r.settle()
	}
	return got
}

// checkPages reads a list again in pages of one item. Long lists have the same items as short ones, so it skips them.
func (r *recording) checkPages(e exchange, response any) {
	r.t.Helper()
	method, request := methodOf(e.request), make(map[string]any)
	must.NoError(r.t, json.Unmarshal(r.bodyOf(e.request), &request))
	want := itemsOf(response)
	if e.title == "" || method.Input().Fields().ByName("page_token") == nil || request["pageToken"] != nil ||
		len(want) < 2 || len(want) > 9 {
		return
	}
	var pages []any
	for request["pageSize"] = 1; len(pages) < len(want); {
		got := r.post(e.by, method, expect.Value(json.Marshal(request))(r.t), []string{"X-Request-Id", silentID})
		must.Nil(r.t, got.err, must.Sprintf("%s, page by page: %+v", e.title, got.err))
		page := expect.Value(parseJSON(got.messages[0]))(r.t)
		must.SliceNotEmpty(r.t, itemsOf(page), must.Sprintf("%s, page by page: %s", e.title, oneLine(page)))
		pages = append(pages, itemsOf(page)...)
		request["pageToken"] = page.(object).get("nextPageToken")
	}
	test.EqOp(r.t, oneLine(want), oneLine(pages), test.Sprintf("%s, page by page", e.title))
}

// itemsOf returns the items of a list: the first list in the response.
func itemsOf(response any) []any {
	o, _ := response.(object)
	for _, f := range o {
		if items, ok := f.value.([]any); ok {
			return items
		}
	}
	return nil
}

// writeCall records a call, without its response.
func (r *recording) writeCall(
	title string, by caller, method protoreflect.MethodDescriptor, notes string, body []byte,
) {
	r.t.Helper()
	r.printf("--- %s\n%s → %s%s\n", title, by, shortName(method), notes)
	r.writeJSON(body)
}

func (r *recording) printf(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

// silentID is the request's id of calls that are not recorded.
const silentID = "silent"

func headersOf(headers []string) string {
	var text strings.Builder
	for i := 0; i+1 < len(headers); i += 2 {
		fmt.Fprintf(&text, " [%s: %s]", headers[i], headers[i+1])
	}
	return text.String()
}

// requestIDOf returns the request's id for a title.
func requestIDOf(title string) string {
	text := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(title), "-"), "-")
	return text[:min(len(text), 60)]
}

// post sends a request with Connect's protocol in JSON.
func (r *recording) post(
	by caller, method protoreflect.MethodDescriptor, body []byte, headers []string,
) callResult {
	r.t.Helper()
	contentType := "application/json"
	if method.IsStreamingServer() {
		contentType, body = "application/connect+json", envelope(body)
	}
	response := r.open(r.t.Context(), by, method, contentType, body, headers)
	defer response.Body.Close()
	if method.IsStreamingServer() {
		return r.readStream(response, func(callResult) bool { return false })
	}
	answer := expect.Value(io.ReadAll(response.Body))(r.t)
	got := callResult{header: response.Header}
	if response.StatusCode == http.StatusOK {
		got.messages = [][]byte{answer}
	} else {
		got.err = r.errorOf(answer)
	}
	return got
}

func (r *recording) open(
	ctx context.Context, by caller, method protoreflect.MethodDescriptor, contentType string, body []byte,
	headers []string,
) *http.Response {
	r.t.Helper()
	url := fmt.Sprintf("%s/%s/%s", r.address, method.Parent().FullName(), method.Name())
	request := expect.Value(http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body)))(r.t)
	request.Header.Set("Content-Type", contentType)
	if token := r.token(by); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return expect.Value(r.client.Do(request))(r.t)
}

// envelope returns a message in the format of streams: flags, length, bytes.
func envelope(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// endOfStream is the flag of the last message of a stream, which has the error of the stream, if any.
const endOfStream = 2

// readStream reads messages until the stream ends or enough returns true.
func (r *recording) readStream(response *http.Response, enough func(callResult) bool) callResult {
	r.t.Helper()
	got := callResult{header: response.Header}
	for !enough(got) {
		var prefix [5]byte
		expect.OK(r.t)(io.ReadFull(response.Body, prefix[:]))
		message := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
		expect.OK(r.t)(io.ReadFull(response.Body, message))
		if prefix[0]&endOfStream == 0 {
			got.messages = append(got.messages, message)
			continue
		}
		var end struct{ Error json.RawMessage }
		must.NoError(r.t, json.Unmarshal(message, &end))
		if end.Error != nil {
			got.err = r.errorOf(end.Error)
		}
		return got
	}
	return got
}

func (r *recording) errorOf(body []byte) *callError {
	r.t.Helper()
	f := new(callError)
	must.NoError(r.t, errors.Join(json.Unmarshal(body, f), f.read()))
	return f
}

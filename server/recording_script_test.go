package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// A script is what happens in an area, step by step.
type script []step

type step interface{ play(r *recording) }

func (s script) play(r *recording) {
	for _, one := range s {
		one.play(r)
	}
}

// do is a step that is no call.
type do func(r *recording)

func (d do) play(r *recording) {
	r.t.Helper()
	d(r)
}

// An exchange is a request, which must succeed or fail, and its response.
//
// "$name" in a request stands for the id of the object that an earlier exchange named, and "$key.path" for a field of
// the response that an earlier exchange kept.
type exchange struct {
	by      caller
	title   string // empty: it is not recorded
	reason  string // of the error; empty: it must succeed
	request proto.Message
	headers []string

	name    string // of the object in the response
	key     string // under which the response is kept, or what the group of the pattern matches in it
	pattern *regexp.Regexp
	account caller // whose access token is in the response
}

// calls makes a call that must succeed.
func (c caller) calls(title string, request proto.Message, headers ...string) exchange {
	return exchange{by: c, title: title, request: request, headers: headers}
}

// refused makes a call that must fail for a reason.
func (c caller) refused(title, reason string, request proto.Message, headers ...string) exchange {
	return exchange{by: c, title: title, reason: reason, request: request, headers: headers}
}

// silently makes a call that is not recorded.
func (c caller) silently(request proto.Message) exchange { return exchange{by: c, request: request} }

func (e exchange) named(name string) exchange {
	e.name = name
	return e
}

func (e exchange) as(key string) exchange {
	e.key = key
	return e
}

func (e exchange) finding(key, pattern string) exchange {
	e.key, e.pattern = key, regexp.MustCompile(pattern)
	return e
}

func (e exchange) signsIn(account caller) exchange {
	e.account = account
	return e
}

func (e exchange) play(r *recording) {
	r.t.Helper()
	got := r.send(e)
	if e.reason != "" {
		must.NotNil(r.t, got.err, must.Sprintf("%s: %+v", e.title, got.err))
		test.EqOp(r.t, e.reason, got.err.reason(), test.Sprintf("%s: %+v", e.title, got.err))
		return
	}
	must.Nil(r.t, got.err, must.Sprintf("%s: %T: %+v", e.title, e.request, got.err))
	raw := got.messages[len(got.messages)-1]
	response := expect.Value(parseJSON(raw))(r.t)
	r.kept[e.key] = response
	r.checkPages(e, response)
	if e.pattern != nil {
		found := e.pattern.FindSubmatch(raw)
		must.SliceLen(r.t, 2, found, must.Sprintf("no %s in %s", e.pattern, raw))
		r.kept[e.key] = string(found[1])
	}
	if e.name != "" {
		r.name(e.name, response)
	}
	if e.account != "" {
		r.tokens[e.account] = textOf(response, "accessToken")
	}
}

// name names the object in a response.
func (r *recording) name(name string, response any) {
	for _, f := range response.(object) { //nolint:forcetypeassert // a response is an object
		if id := textOf(f.value, "id"); id != "" {
			r.kept[name] = id
			r.names.set(id, name)
			return
		}
	}
}

func textOf(value any, key string) string {
	o, _ := value.(object)
	text, _ := o.get(key).(string)
	return text
}

var reference = regexp.MustCompile(`\$([\w-]+)((?:\.\w+)*)`)

// expand replaces references by what earlier exchanges named and kept.
func (r *recording) expand(text string) string {
	r.t.Helper()
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		value := r.kept[parts[1]]
		for _, key := range strings.Split(parts[2], ".")[1:] {
			if list, ok := value.([]any); ok {
				value = list[expect.Value(strconv.Atoi(key))(r.t)]
				continue
			}
			o, _ := value.(object)
			value = o.get(key)
		}
		expanded, ok := value.(string)
		must.True(r.t, ok, must.Sprintf("%s is %v", found, value))
		return expanded
	})
}

// bodyOf returns a request in JSON, with its references expanded.
func (r *recording) bodyOf(request proto.Message) []byte {
	r.t.Helper()
	return []byte(r.expand(string(expect.Value(protojson.Marshal(request))(r.t))))
}

// with returns a copy of a request with some changes.
func with[M proto.Message](request, changes M) M {
	request = proto.CloneOf(request)
	proto.Merge(request, changes)
	return request
}

// clock restarts the server with another time.
func clock(at time.Time) do { return func(r *recording) { r.startAt(at) } }

// occurred waits until n events of a type have occurred since the clock was set.
func occurred(event string, n int) do { return func(r *recording) { r.waitForEvents(event, n) } }

// token returns the token of a caller, who is the member with that subject.
func (r *recording) token(of caller) string {
	r.t.Helper()
	if _, ok := r.tokens[of]; !ok {
		tenant := studioID
		if of == otto || of == mona {
			tenant = golfID
		}
		r.tokens[of] = r.sign(string(of), tenant)
	}
	return r.tokens[of]
}

// sign returns a token for a subject, signed with the server's key.
func (r *recording) sign(subject string, tenants ...string) string {
	r.t.Helper()
	return strings.TrimSpace(runBerth(r.t, "token", subject, "--tenant", strings.Join(tenants, ","), "--data", r.data))
}

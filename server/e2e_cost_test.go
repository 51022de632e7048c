package main

import (
	"bytes"
	"net/http"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// maxCost is the processor time that a call may take on a node, at the bounds of its fields.
	maxCost = 50 * time.Millisecond
	// attempts is how often a call is measured that takes longer at first. The median counts.
	attempts = 10
)

// costly has the fields with which a call may take longer, and why. What limits such calls is how many transactions and
// reads of a tenant run at once (BERTH_CONCURRENCY, BERTH_READS).
var costly = map[string]string{
	"SessionService/ImportSessions csv":     "5,000 rows are read, checked against each other and what exists, inserted",
	"MemberService/ImportMembers csv":       "3 MB with up to 50,000 rows are read; the rest is done in the background",
	"BookingService/ImportBookings csv":     "3 MB with up to 20,000 rows are read; the rest is done in the background",
	"CreditService/ImportSubscriptions csv": "3 MB with up to 20,000 rows are read; the rest is done in the background",

	"EventService/ListEvents page_size": "500 events are decoded, with the values of new sessions; the client counts, too",
}

// fillers are texts of which a field is filled up to its bound: those that parsers, patterns and encodings are slow at.
var fillers = []string{
	"x", "é", "{{1}}", "{{if}}", "(", "a|", "<b>", "&", "\\", "a,b\n", "\"", " ", "+1", "FREQ=DAILY;", "1+",
}

// patterns are regular expressions that are short and become large programs.
var patterns = []string{`((a{10}){10}){10}`, `(?:\pL{100}){10}`, `(?i:[a-z]{1,100}){1,10}`}

// patternsFor returns texts for a field with a pattern or an expression, up to a size, in which patterns become large.
func patternsFor(field protoreflect.FieldDescriptor, size int) (texts []string) {
	for _, pattern := range patterns {
		switch name := string(field.Name()); {
		case strings.HasSuffix(name, "pattern"):
			texts = append(texts, strings.Repeat(pattern, size/len(pattern)))
		case strings.HasSuffix(name, "expression"):
			const end = "false"
			one := `"x".matches(r'` + pattern + `')||`
			texts = append(texts, strings.Repeat(one, (size-len(end))/len(one))+end)
		}
	}
	return texts
}

// No field at its bounds makes a call expensive for the node. Postgres is not counted: its work is limited by
// transactions and reads at once, and by the statements' own bounds.
//
//nolint:paralleltest // other tests would take processor time, too
func TestEveryRPC_IsCheapAtTheBoundsOfItsFields(t *testing.T) {
	withoutRaceDetector(t)
	live := newLive(t)
	w := newWorld(t, live)
	for _, p := range procedures() {
		if p.IsStreamingServer() {
			continue // they last as long as the client reads
		}
		w, raw := w.in(t), w.token(tenant.RoleOwner)
		if strings.HasPrefix(string(p.Name()), "Import") {
			w = newWorld(t, live) // what is imported would slow down the calls after it
			raw = w.token(tenant.RoleOwner)
		}
		done := make(map[string]bool)
		for _, b := range requests[p.Short()] {
			good := b(w)
			for _, at := range fieldRefsOf(p.Input()) {
				if _, filled := at.get(good); done[at.String()] || !filled && len(done) > 0 {
					continue
				}
				done[at.String()] = true
				for _, values := range boundsOf(at, good) {
					cost := func() time.Duration {
						request := at.with(good, values...)
						before := processorTime(t)
						got := live.try(t.Context(), raw, p, request)
						cost := processorTime(t) - before
						if got.Code == codes.OK && p.IsOneTime() {
							good = b(w)
						}
						return cost
					}
					first := cost()
					if first <= maxCost {
						continue
					}
					measured := make([]time.Duration, attempts)
					for i := range measured {
						measured[i] = cost()
					}
					slices.Sort(measured)
					name := p.Short() + " " + at.String()
					test.False(t, measured[attempts/2] > maxCost && costly[name] == "", test.Sprintf(
						"%s takes %s of the processor (%s at first) with %d values such as %.60q", name, measured[attempts/2],
						first, len(values), values[0].String(),
					))
				}
			}
		}
	}
}

// boundsOf returns values of a field at its bounds.
func boundsOf(at fieldRef, good proto.Message) [][]protoreflect.Value {
	var all [][]protoreflect.Value
	field := at.leaf()
	items, size := admission.FieldBound(field)
	present, filled := at.get(good)
	if field.IsList() && filled {
		all = append(all, slices.Repeat([]protoreflect.Value{present}, items))
	}
	rules, _ := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	switch field.Kind() {
	case protoreflect.StringKind:
		if at.isID() {
			return all
		}
		for _, text := range patternsFor(field, size) {
			all = append(all, []protoreflect.Value{protoreflect.ValueOfString(text)})
		}
		for _, filler := range fillers {
			for _, n := range []int{size / 4, size} { // in characters, and in bytes
				text := protoreflect.ValueOfString(strings.Repeat(filler, n/len(filler)))
				all = append(all, slices.Repeat([]protoreflect.Value{text}, max(items, 1)))
			}
		}
	case protoreflect.BytesKind:
		for _, filler := range fillers {
			all = append(all, []protoreflect.Value{protoreflect.ValueOfBytes(bytes.Repeat([]byte(filler), size/len(filler)))})
		}
		if head, rows, ok := bytes.Cut(present.Bytes(), []byte("\n")); filled && ok && len(rows) > 0 {
			head = append(slices.Clone(head), '\n')
			for _, most := range []int{session.MaxImportRows, member.MaxImportRows} {
				n := min((size-len(head))/len(rows), most/bytes.Count(rows, []byte("\n")))
				file := slices.Concat(head, bytes.Repeat(rows, n))
				all = append(all, []protoreflect.Value{protoreflect.ValueOfBytes(file)})
			}
		}
	case protoreflect.Int32Kind:
		if most := rules.GetInt32().GetLte(); most > 0 {
			all = append(all, []protoreflect.Value{protoreflect.ValueOfInt32(most)})
		}
	}
	return all
}

// processorTime is what this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	test.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

const (
	// maxRefusal and maxRefusalBytes are the processor time and the memory that a request beyond its bounds may take.
	maxRefusal      = 5 * time.Millisecond
	maxRefusalBytes = 4 << 20
	// overBounds is how many times a bound such a request has.
	overBounds = 10
	// largestRequest is the size of a request of the smallest values.
	largestRequest = 256 << 10
)

// Beyond its bounds a request costs next to nothing, in either format: ten times what a field may hold, or as many of
// the smallest values as its bytes allow. It is refused before memory is made for them.
//
//nolint:paralleltest // other tests would take processor time, too
func TestEveryRPC_IsCheapBeyondTheBoundsOfItsFields(t *testing.T) {
	withoutRaceDetector(t)
	live := newLive(t)
	w := newWorld(t, live)
	for _, p := range procedures() {
		if p.IsStreamingServer() {
			continue // their messages are decoded by the same code
		}
		good := requests[p.Short()][0](w)
		for _, at := range fieldRefsOf(p.Input()) {
			for name, values := range beyondBounds(at, good) {
				request := at.with(good, values...)
				for _, format := range []string{"proto", "json"} {
					live.costsLittle(t, w.token(tenant.RoleOwner), p, format, request, at.String()+" "+name)
				}
			}
		}
	}
}

// beyondBounds returns values of a field that are refused.
func beyondBounds(at fieldRef, good proto.Message) map[string][]protoreflect.Value {
	all := make(map[string][]protoreflect.Value)
	field := at.leaf()
	items, size := admission.FieldBound(field)
	if field.IsList() {
		smallest := at.holder(proto.Clone(good)).NewField(field).List().NewElement()
		all["ten times"] = slices.Repeat([]protoreflect.Value{smallest}, overBounds*items)
		all["smallest"] = slices.Repeat([]protoreflect.Value{smallest}, largestRequest/len(`{},`))
	}
	if kind := field.Kind(); kind == protoreflect.StringKind && !field.IsList() {
		for _, filler := range fillers {
			n := min(overBounds*size, max(largestRequest/2, 2*size)) / len(filler)
			all[filler] = []protoreflect.Value{protoreflect.ValueOfString(strings.Repeat(filler, n))}
		}
	}
	if field.Message() != nil && field.Message().FullName() == "google.protobuf.FieldMask" {
		mask := &fieldmaskpb.FieldMask{Paths: slices.Repeat([]string{"a"}, largestRequest/3)}
		all["paths"] = []protoreflect.Value{protoreflect.ValueOfMessage(mask.ProtoReflect())}
	}
	return all
}

// costsLittle sends a request that is refused, and fails the test if that takes much processor time or memory.
func (l *liveNode) costsLittle(
	t *testing.T, raw string, p procedure, format string, request proto.Message, about string,
) {
	t.Helper()
	marshal := proto.Marshal
	if format == "json" {
		marshal = protojson.Marshal
	}
	body, err := marshal(request)
	if err != nil { // JSON has no such value
		return
	}
	name := p.Short() + " " + about + " in " + format
	header := http.Header{"Content-Type": {"application/" + format}, "Authorization": {"Bearer " + raw}}
	url := "http://" + l.Address + p.Path()
	send := func() (time.Duration, int) {
		before, bytes := processorTime(t), allocated()
		status, answer := sendHTTP(t, http.MethodPost, url, header, string(body))
		test.NotEqOp(t, http.StatusOK, status, test.Sprint(name))
		test.StrNotContains(t, answer, "RATE_LIMITED", test.Sprint(name))
		return processorTime(t) - before, allocated() - bytes
	}
	times, sizes := make([]time.Duration, 0, attempts), make([]int, 0, attempts)
	for range attempts {
		cost, size := send()
		if times, sizes = append(times, cost), append(sizes, size); cost <= maxRefusal && size <= maxRefusalBytes {
			return
		}
	}
	slices.Sort(times)
	slices.Sort(sizes)
	test.LessEq(t, maxRefusal, times[0], test.Sprintf("%s, %d bytes, takes the processor", name, len(body)))
	test.LessEq(t, maxRefusalBytes, sizes[0], test.Sprintf("%s, %d bytes, takes memory", name, len(body)))
}

// allocated is how many bytes this process has allocated so far.
func allocated() int {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

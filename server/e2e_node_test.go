package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/provider/dnstest"
	"github.com/berthhq/berth/internal/rpc"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// liveNode is a node that runs as in production, with a gRPC client from another library than its server.
type liveNode struct {
	*boot.Node
	DB      *pgtest.DB
	Address string // host:port
	log     *transcript
	data    string          // its data folder
	dns     *dnstest.Server // nil if the node is idle
	conn    *grpc.ClientConn

	tablesOnce   sync.Once
	tenantTables []string
}

// openLive starts a node. Nodes with the same data folder share their keys.
func openLive(t testing.TB, db *pgtest.DB, url, data string, adapt ...func(*boot.KeyConfig)) *liveNode {
	t.Helper()
	dns := expect.Value(dnstest.Start())(t)
	t.Cleanup(dns.Close)
	l := openNode(t, db, url, data, dns.Address, adapt...)
	l.dns = dns
	l.listen(t, func(ctx context.Context, listener net.Listener) error {
		return l.Serve(ctx, boot.Listeners{Public: listener}, nil)
	})
	return l
}

// openIdle starts a node that answers requests and does no work in the background.
func openIdle(t testing.TB, db *pgtest.DB, url, data, dns string) *liveNode {
	t.Helper()
	l := openNode(t, db, url, data, dns)
	l.listen(t, func(ctx context.Context, listener net.Listener) error {
		server := rpc.NewServer(l.Handler, slog.New(slog.NewTextHandler(l.log, nil)), traffic.ConnLimits{})
		context.AfterFunc(ctx, func() { _ = server.Close() })
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return l
}

func openNode(t testing.TB, db *pgtest.DB, url, data, dns string, adapt ...func(*boot.KeyConfig)) *liveNode {
	t.Helper()
	keys := boot.KeyConfig{Data: data, Issuer: "berth", Audience: "berth", Senders: boot.SenderConfig{
		DNS: dns, KeepMails: true, // so that mails about signing in leave at once
	}}
	for _, f := range adapt {
		f(&keys)
	}
	expect.OK(t)(keys.Files().Create())
	l := &liveNode{DB: db, log: newTranscript(), data: data}
	l.Node = expect.Value(boot.Open(
		t.Context(), slog.New(slog.NewTextHandler(l.log, &slog.HandlerOptions{Level: slog.LevelWarn})), url, keys,
		boot.ListenConfig{PublicURL: "https://berth.test", Drain: time.Second, TimeLimit: waitTimeout, Reflection: true},
	))(t)
	return l
}

// listen serves the node on a free port until the test ends, and connects a client.
func (l *liveNode) listen(t testing.TB, serve func(context.Context, net.Listener) error) {
	t.Helper()
	listener := expect.Value(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	l.Address = listener.Addr().String()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		test.NoError(t, <-served)
		l.Close()
		if t.Failed() {
			t.Logf("the node's log:\n%s", l.log)
		}
	})
	l.conn = dial(t, l.Address)
}

// newLive starts a node with its own database.
func newLive(t testing.TB) *liveNode {
	t.Helper()
	db := pgtest.New(t)
	return openLive(t, db, db.URL, t.TempDir())
}

func dial(t testing.TB, address string) *grpc.ClientConn {
	t.Helper()
	conn := expect.Value(
		grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20))),
	)(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Token returns a token for any subject.
func (l *liveNode) Token(t testing.TB, subject string, tenants ...tenant.TenantID) string {
	t.Helper()
	return issue(t, l.Issuer, subject, tenants...)
}

func issue(t testing.TB, by *token.Issuer, subject string, tenants ...tenant.TenantID) string {
	t.Helper()
	raw, _, err := by.Issue(token.Claims{Subject: subject, Tenants: tenants}, time.Hour)
	must.NoError(t, err)
	return raw
}

// withToken returns a context for calls with a token. Empty: without a token.
func withToken(ctx context.Context, raw string) context.Context {
	if raw == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+raw)
}

// procedure is an RPC of the contract.
type procedure struct {
	protoreflect.MethodDescriptor
}

// Path is its HTTP path.
func (p procedure) Path() string { return fmt.Sprintf("/%s/%s", p.Parent().FullName(), p.Name()) }

// Short is its name in tests: BookingService/Book.
func (p procedure) Short() string { return fmt.Sprintf("%s/%s", p.Parent().Name(), p.Name()) }

// Rule is its access rule.
func (p procedure) Rule() *v1.Access {
	rule, _ := proto.GetExtension(p.Options(), v1.E_Access).(*v1.Access)
	return rule
}

func (p procedure) IsPublic() bool { return p.Rule().GetRule() == v1.Access_RULE_PUBLIC }

// IsReadOnly reports whether it has no side effects.
func (p procedure) IsReadOnly() bool {
	options, _ := p.Options().(interface{ ProtoReflect() protoreflect.Message })
	level := options.ProtoReflect().Descriptor().Fields().ByName("idempotency_level")
	return options.ProtoReflect().Get(level).Enum() == 1
}

// IsOneTime reports whether a successful request cannot succeed again.
func (p procedure) IsOneTime() bool {
	return !p.IsReadOnly() && !regexp.MustCompile(`^(Update|Set|Bulk)`).MatchString(string(p.Name()))
}

// IsEndless reports whether the RPC is a stream that does not end by itself.
func (p procedure) IsEndless() bool { return p.Short() == "EventService/WatchEvents" }

// NewRequest returns an empty request.
func (p procedure) NewRequest() proto.Message { return newMessage(p.Input()) }

func newMessage(d protoreflect.MessageDescriptor) proto.Message {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		panic(err) // the type is linked into the server
	}
	return kind.New().Interface()
}

// procedures returns all RPCs of the contract, by name.
var procedures = sync.OnceValue(func() []procedure {
	var all []procedure
	protoregistry.GlobalFiles.RangeFilesByPackage("berth.v1", func(file protoreflect.FileDescriptor) bool {
		for s := range file.Services().Len() {
			methods := file.Services().Get(s).Methods()
			for m := range methods.Len() {
				all = append(all, procedure{methods.Get(m)})
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b procedure) int { return strings.Compare(a.Path(), b.Path()) })
	return all
})

func procedureNamed(t *testing.T, short string) procedure {
	t.Helper()
	for _, p := range procedures() {
		if p.Short() == short {
			return p
		}
	}
	t.Fatalf("the contract has no %s", short)
	return procedure{}
}

// invoke calls any RPC over gRPC. It returns the last message of a stream, or the first of an endless one.
func invoke(
	ctx context.Context, conn *grpc.ClientConn, p procedure, request proto.Message, options ...grpc.CallOption,
) (proto.Message, error) {
	answer := newMessage(p.Output())
	if !p.IsStreamingServer() {
		return answer, conn.Invoke(ctx, p.Path(), request, answer, options...)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, p.Path())
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil && err != io.EOF {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	for {
		next := newMessage(p.Output())
		switch err := stream.RecvMsg(next); err {
		case nil:
			if answer = next; p.IsEndless() {
				return answer, nil
			}
		case io.EOF:
			return answer, nil
		default:
			return nil, err
		}
	}
}

// call invokes an RPC that must succeed.
func call[A proto.Message](t *testing.T, l *liveNode, raw, short string, request proto.Message) A {
	t.Helper()
	answer, err := invoke(withToken(t.Context(), raw), l.conn, procedureNamed(t, short), request)
	must.NoError(t, err, must.Sprint(short))
	return answer.(A)
}

// outcome is everything that a caller gets from a call.
type outcome struct {
	Code     codes.Code
	Reason   string
	Message  string
	Metadata map[string]string
	Response string // JSON
	Replayed bool   // the response of an earlier call
}

func (o outcome) String() string {
	if o.Code == codes.OK {
		return "OK " + o.Response
	}
	return fmt.Sprintf("%s %s %q %v", o.Code, o.Reason, o.Message, o.Metadata)
}

// outcomeOf converts the result of a call. An error without an ErrorInfo of Berth has no Reason.
func outcomeOf(answer proto.Message, err error) outcome {
	if err == nil {
		text, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(answer)
		if err != nil {
			return outcome{Code: codes.Internal, Message: "the answer is no JSON: " + err.Error()}
		}
		return outcome{Response: string(text)}
	}
	s := status.Convert(err)
	o := outcome{Code: s.Code(), Message: s.Message()}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == "berth" {
			o.Reason, o.Metadata = info.GetReason(), info.GetMetadata()
		}
	}
	return o
}

// has fails the test unless an outcome has all of these: its code, its reason, or the field that it names. About says
// which call of several it is.
//
//	live.try(ctx, raw, p, request).has(t, "PermissionDenied TENANT_FORBIDDEN", p.Short())
func (o outcome) has(t *testing.T, want string, about ...any) {
	t.Helper()
	for word := range strings.FieldsSeq(want) {
		test.SliceContains(t, []string{o.Code.String(), o.Reason, o.Metadata["field"]}, word,
			test.Sprint(append(about, ": ", o)...))
	}
}

// try invokes an RPC and returns any result.
func (l *liveNode) try(ctx context.Context, raw string, p procedure, request proto.Message) outcome {
	var header metadata.MD
	o := outcomeOf(invoke(withToken(ctx, raw), l.conn, p, request, grpc.Header(&header)))
	o.Replayed = slices.Equal(header.Get(convert.IdempotentHeader), []string{"true"})
	return o
}

// verify fails the test if an invariant is violated.
func (l *liveNode) verify(t *testing.T) {
	t.Helper()
	test.StrContains(t, runBerth(t, "verify", "--database-url", l.DB.URL), "every invariant holds")
	var types []event.Type
	must.NoError(t, l.DB.Owner.QueryRow(t.Context(), `select array_agg(distinct type) from events`).Scan(&types))
	for _, one := range types {
		test.NotEqOp(t, 0, eventapi.EventTypes[one], test.Sprintf("an event %q is none of the contract", one))
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(expect.Value(os.ReadFile(path))(t))
}

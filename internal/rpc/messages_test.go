package rpc

import (
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// with returns a copy of a message with the fields that another one sets.
func with[M proto.Message](m, changes M) M {
	m = proto.CloneOf(m)
	proto.Merge(m, changes)
	return m
}

// setFields makes fields of a message what those of the same names are in another one, also those that are not set
// there.
func setFields(m, from proto.Message, names ...string) {
	to := m.ProtoReflect()
	for _, name := range names {
		field := to.Descriptor().Fields().ByName(protoreflect.Name(name))
		source := from.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
		if to.Clear(field); from.ProtoReflect().Has(source) {
			to.Set(field, from.ProtoReflect().Get(source))
		}
	}
}

// An edit makes one field of an object what it is in a message, or clears it.
type edit[M proto.Message] struct {
	path string
	to   M
}

// checkMask checks that each path of an update's mask changes only its field. The object's version is 1, and other has
// other values in all fields.
func checkMask[M proto.Message](
	t *testing.T, s *testServer, token string, object proto.Message, other M, edits []edit[M],
	request func(sent M, mask *fieldmaskpb.FieldMask, etag string) proto.Message,
) {
	t.Helper()
	for i, e := range edits {
		name, _, _ := strings.Cut(e.path, ".")
		sent := proto.CloneOf(other)
		setFields(sent, e.to, name)
		setFields(object, e.to, name)
		setText(object, "etag", convert.Etag(i+2))
		response := expect.Value(s.call(t, token, request(sent, mask(e.path), convert.Etag(i+1))))(t).ProtoReflect()
		test.EqOp(t, "", cmp.Diff(
			object, response.Get(response.Descriptor().Fields().Get(0)).Message().Interface(),
			ignoreServerFields()...,
		), test.Sprint(e.path))
	}
}

func setText(m proto.Message, name, text string) {
	to := m.ProtoReflect()
	to.Set(to.Descriptor().Fields().ByName(protoreflect.Name(name)), protoreflect.ValueOfString(text))
}

// anyMessage is a message whose type is known when it is sent.
type anyMessage struct{ proto.Message }

// anyCodec encodes messages of any type.
type anyCodec struct{}

func (anyCodec) Name() string { return "proto" }

func (anyCodec) Marshal(m any) ([]byte, error) { return proto.Marshal(m.(*anyMessage).Message) }

func (anyCodec) Unmarshal(raw []byte, m any) error {
	return proto.Unmarshal(raw, m.(*anyMessage).Message)
}

// call sends a request to the RPC that it belongs to.
func (s *testServer) call(t *testing.T, token string, in proto.Message) (proto.Message, error) {
	t.Helper()
	name := in.ProtoReflect().Descriptor().FullName()
	var method protoreflect.MethodDescriptor
	protoregistry.GlobalFiles.RangeFilesByPackage("berth.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			if found := methods.ByName(name.Name()[:len(name.Name())-len("Request")]); found != nil {
				method = found
			}
		}
		return method == nil
	})
	out := expect.Value(protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName()))(t)
	client := connect.NewClient[anyMessage, anyMessage](
		s.Client, s.URL+"/"+string(method.Parent().FullName())+"/"+string(method.Name()), connect.WithCodec(anyCodec{}),
		connect.WithResponseInitializer(func(_ connect.Spec, m any) error {
			m.(*anyMessage).Message = out.New().Interface()
			return nil
		}),
	)
	response, err := client.CallUnary(t.Context(), as(token, &anyMessage{in}))
	if err != nil {
		return nil, err
	}
	return response.Msg.Message, nil
}

// anyCaller is a testServer, or a test that has one.
type anyCaller interface {
	call(t *testing.T, token string, in proto.Message) (proto.Message, error)
}

// ask sends a request that must succeed to the RPC that it belongs to.
func ask[R proto.Message](t *testing.T, s anyCaller, token string, in proto.Message) R {
	t.Helper()
	return expect.Value(s.call(t, token, in))(t).(R)
}

// pages lists all pages.
func pages[R proto.Message](t *testing.T, s anyCaller, token string, list proto.Message) (all []R) {
	t.Helper()
	list = proto.Clone(list)
	for {
		page := expect.Value(s.call(t, token, list))(t)
		all = append(all, page.(R))
		next := page.ProtoReflect().Descriptor().Fields().ByName("next_page_token")
		if next == nil || page.ProtoReflect().Get(next).String() == "" {
			return all
		}
		setText(list, "page_token", page.ProtoReflect().Get(next).String())
	}
}

// items lists all pages, and returns a field of each item.
func (s *testServer) items(t *testing.T, token string, list proto.Message, field string) (all []string) {
	t.Helper()
	for _, page := range pages[proto.Message](t, s, token, list) {
		page.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			for i := 0; f.IsList() && i < value.List().Len(); i++ {
				item := value.List().Get(i).Message()
				all = append(all, item.Get(item.Descriptor().Fields().ByName(protoreflect.Name(field))).String())
			}
			return true
		})
	}
	return all
}

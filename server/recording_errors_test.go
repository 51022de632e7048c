package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Errors that all RPCs share: tokens, tenants, invalid requests, deadlines, protocols, and a server that stops.
func recordErrors(s *studio) {
	recordTokens(s)
	recordInvalidRequests(s)
	recordProtocols(s)
	recordShutdown(s)
}

func recordTokens(s *studio) {
	both := person{name: "olga-of-both", token: s.token("olga", s.id, s.other)}
	s.recordError(anonymous, "A stranger reads the tenant", "UNAUTHENTICATED", &v1.GetTenantRequest{})
	s.recordError(
		person{name: "forger", token: s.mia.token[:len(s.mia.token)-8] + "AAAAAAAA"}, "A forger reads the tenant",
		"UNAUTHENTICATED", &v1.GetTenantRequest{},
	)
	s.recordError(s.mia, "Mia reads the other tenant", "TENANT_FORBIDDEN", &v1.GetTenantRequest{TenantId: s.other})
	s.recordError(
		s.mia, "Mia reads a tenant that is not there", "TENANT_FORBIDDEN", &v1.GetTenantRequest{TenantId: absentID},
	)
	s.recordError(s.mia, "Mia reads a tenant that has no UUID", "INVALID_FIELD", &v1.GetTenantRequest{TenantId: "harbour"})
	s.recordError(both, "Olga names none of her tenants", "TENANT_REQUIRED", &v1.GetTenantRequest{})
	s.record(both, "Olga names one of her tenants", &v1.GetTenantRequest{TenantId: s.id})
	s.recordError(both, "Olga is no member of the other", "PERMISSION_DENIED", &v1.GetTenantRequest{TenantId: s.other})
	s.recordError(s.kim, "Kim is no member at all", "PERMISSION_DENIED", &v1.GetMeRequest{})
}

func recordInvalidRequests(s *studio) {
	const create = "/berth.v1.MemberService/CreateMember"
	s.raw(s.olga, "A request has a field that is not there", create, `{"member": {"name": "Ada", "shoeSize": 38}}`)
	s.raw(s.olga, "A request has a text for a message", create, `{"member": "Ada"}`)
	s.raw(s.olga, "A request is no JSON", create, `{"member"`)
	s.raw(s.olga, "A request is for no RPC", "/berth.v1.MemberService/DeleteMember", `{}`)
	s.raw(
		s.olga, "A request has an enum that is not there", "/berth.v1.MemberService/ListMembers",
		`{"status": "MEMBER_STATUS_ASLEEP"}`,
	)
	s.recordError(s.olga, "A request has many wrong fields", "INVALID_FIELD", &v1.CreateMemberRequest{Member: &v1.Member{
		Email: "nobody", Phone: "123", Tags: []string{"a", "a", ""}, Locale: "-",
	}})
	s.recordError(
		s.olga, "A request has a text that is no text", "INVALID_FIELD",
		&v1.CreateMemberRequest{Member: &v1.Member{Name: "A\x00B"}},
	)
	s.recordError(s.olga, "A page is too large", "INVALID_FIELD", &v1.ListMembersRequest{PageSize: 501})
	s.recordError(
		s.olga, "A request is too large", "REQUEST_TOO_LARGE",
		&v1.ImportSessionsRequest{Csv: bytes.Repeat([]byte("x"), 5<<20)},
	)
}

// raw sends a body unchanged, and records the response.
func (s *studio) raw(caller person, title, path, body string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.address+path, strings.NewReader(body))
	must.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+caller.token)
	response, answer := s.exchange(request)
	fmt.Fprintf(&s.text, "--- %s\n%s → %s\n%s\n", title, caller.name, strings.TrimPrefix(path, "/berth.v1."), body)
	if json := strings.HasPrefix(response.Header.Get("Content-Type"), "application/json"); !json {
		fmt.Fprintf(&s.text, "← %s\n\n", response.Status)
		return
	}
	s.writeResult(callResult{header: response.Header, err: s.errorOf(answer)})
}

func (r *recording) exchange(request *http.Request) (*http.Response, []byte) {
	r.t.Helper()
	response := expect.Value(r.client.Do(request))(r.t)
	defer response.Body.Close()
	answer := expect.Value(io.ReadAll(response.Body))(r.t)
	return response, answer
}

// recordProtocols records the same responses over gRPC, and reads over GET.
func recordProtocols(s *studio) {
	s.startAt(on(5, "10:10"))
	class := s.class("evening", on(7, "18:00"))
	s.grpc(s.mia, "Mia reads a session over gRPC", &v1.GetSessionRequest{SessionId: class})
	s.grpc(s.mia, "Mia books over gRPC", &v1.BookRequest{SessionId: class})
	s.grpc(s.mia, "Mia books twice over gRPC", &v1.BookRequest{SessionId: class})
	s.grpc(s.mia, "Mia has a wrong field over gRPC", &v1.BookRequest{SessionId: "none"})
	s.grpc(s.adam, "The admin imports over gRPC", &v1.ImportMembersRequest{Csv: []byte("name\nCarl\n")})
	s.settle()
	tag := s.get(s.mia, "Mia reads the session by GET", &v1.GetSessionRequest{SessionId: class}, "")
	s.get(s.mia, "Mia reads it again by GET", &v1.GetSessionRequest{SessionId: class}, tag)
	s.get(s.tom, "Tom reads it with Mia's tag", &v1.GetSessionRequest{SessionId: class}, tag)
	s.get(s.mia, "Mia reads her booking by GET", &v1.ListMyBookingsRequest{}, "")
	s.get(s.mia, "Mia books by GET", &v1.BookRequest{SessionId: class}, "")
}

func (s *studio) grpc(caller person, title string, request proto.Message) {
	s.t.Helper()
	method := procedure{methodsByRequest()[request.ProtoReflect().Descriptor().FullName()]}
	body := expect.Value(protojson.Marshal(request))(s.t)
	fmt.Fprintf(&s.text, "--- %s\n%s → %s [gRPC]\n", title, caller.name, method.Short())
	s.writeJSON(body)
	answer, err := invoke(metadata.AppendToOutgoingContext(
		withToken(s.t.Context(), caller.token), "x-request-id", requestIDOf(title),
	),
		dial(s.t, strings.TrimPrefix(s.address, "http://")), method, request)
	if err == nil {
		body := expect.Value(protojson.Marshal(answer))(s.t)
		s.writeResult(callResult{messages: [][]byte{body}})
		return
	}
	got := status.Convert(err)
	fmt.Fprintf(&s.text, "← %s\n%s\n", got.Code(), s.names.normalizeText(got.Message(), "", ""))
	for _, detail := range got.Details() {
		message, isMessage := detail.(proto.Message)
		must.True(s.t, isMessage, must.Sprintf("%v", detail))
		body := expect.Value(protojson.Marshal(message))(s.t)
		s.writeJSON(body)
	}
	s.text.WriteString("\n")
}

// get records a GET request with the tag of a cached response, and returns the tag of the response.
func (s *studio) get(caller person, title string, message proto.Message, tag string) string {
	s.t.Helper()
	method := methodsByRequest()[message.ProtoReflect().Descriptor().FullName()]
	body := expect.Value(protojson.Marshal(message))(s.t)
	path := fmt.Sprintf(
		"%s/%s/%s?connect=v1&encoding=json&message=%s", s.address, method.Parent().FullName(), method.Name(),
		url.QueryEscape(string(body)),
	)
	request := expect.Value(http.NewRequestWithContext(s.t.Context(), http.MethodGet, path, nil))(s.t)
	request.Header.Set("Authorization", "Bearer "+caller.token)
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, answer := s.exchange(request)
	fmt.Fprintf(&s.text, "--- %s\n%s → %s [GET]\n", title, caller.name, shortName(method))
	s.writeJSON(body)
	fmt.Fprintf(&s.text, "← %s [Cache-Control: %s] [Vary: %s] [Etag: %t]\n", response.Status,
		response.Header.Get("Cache-Control"), response.Header.Values("Vary"), response.Header.Get("Etag") != "")
	if response.StatusCode == http.StatusOK {
		s.writeJSON(answer)
	}
	s.text.WriteString("\n")
	return response.Header.Get("Etag")
}

func recordShutdown(s *studio) {
	s.startAt(on(5, "10:20"))
	conn := expect.Value(s.db.Owner.Begin(s.t.Context()))(s.t)
	expect.OK(s.t)(conn.Exec(s.t.Context(), "lock table members in access exclusive mode"))
	s.noSettle = true
	s.recordError(s.mia, "Mia cannot wait", "DEADLINE_EXCEEDED", &v1.GetMeRequest{}, "Connect-Timeout-Ms", "1000")
	s.noSettle = false
	must.NoError(s.t, conn.Rollback(s.t.Context()))

	method := methodsByRequest()[(*v1.WatchEventsRequest)(nil).ProtoReflect().Descriptor().FullName()]
	ctx, cancel := context.WithTimeout(s.t.Context(), sceneLength)
	defer cancel()
	response := s.open(ctx, s.mia, method, "application/connect+json", envelope([]byte("{}")), nil)
	defer response.Body.Close()
	stopped := false
	got := s.readStream(response, func(r callResult) bool {
		if len(r.messages) == 1 && !stopped { // the stream is open
			stopped = true
			s.settle()
			s.server.stop()
		}
		return false
	})
	fmt.Fprintf(&s.text, "--- Mia watches until the server stops\nmia → %s\n{}\n", shortName(method))
	got.messages = nil
	s.writeResult(got)
	test.True(
		s.t, got.err != nil && got.err.reason() == "SHUTTING_DOWN", test.Sprintf("the stream ends with %+v", got.err),
	)
	s.client.CloseIdleConnections()
	s.server.wait(s.t)
	s.server = nil
	s.startAt(on(5, "10:30"))
}

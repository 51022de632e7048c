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

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// What every RPC has in common: tokens, tenants, broken requests, deadlines, protocols, and a server that stops.
func recordErrors(s *studio) {
	recordTokens(s)
	recordBrokenRequests(s)
	recordProtocols(s)
	recordEnds(s)
}

func recordTokens(s *studio) {
	both := person{name: "olga-of-both", token: s.token("olga", s.id, s.other)}
	s.refused(anonymous, "Nobody reads the tenant", "UNAUTHENTICATED", &v1.GetTenantRequest{})
	s.refused(person{name: "forger", token: s.mia.token[:len(s.mia.token)-8] + "AAAAAAAA"}, "A forger reads the tenant", "UNAUTHENTICATED", &v1.GetTenantRequest{})
	s.refused(s.mia, "Mia reads the other tenant", "TENANT_FORBIDDEN", &v1.GetTenantRequest{TenantId: s.other})
	s.refused(s.mia, "Mia reads a tenant that is not there", "TENANT_FORBIDDEN", &v1.GetTenantRequest{TenantId: nobodysID})
	s.refused(s.mia, "Mia reads a tenant that has no UUID", "INVALID_FIELD", &v1.GetTenantRequest{TenantId: "harbour"})
	s.refused(both, "Olga names none of her tenants", "TENANT_REQUIRED", &v1.GetTenantRequest{})
	s.do(both, "Olga names one of her tenants", &v1.GetTenantRequest{TenantId: s.id})
	s.refused(both, "Olga is no member of the other", "PERMISSION_DENIED", &v1.GetTenantRequest{TenantId: s.other})
	s.refused(s.kim, "Kim is no member at all", "PERMISSION_DENIED", &v1.GetMeRequest{})
}

func recordBrokenRequests(s *studio) {
	const create = "/berth.v1.MemberService/CreateMember"
	s.raw(s.olga, "A request has a field that is not there", create, `{"member": {"name": "Ada", "shoeSize": 38}}`)
	s.raw(s.olga, "A request has a text for a message", create, `{"member": "Ada"}`)
	s.raw(s.olga, "A request is no JSON", create, `{"member"`)
	s.raw(s.olga, "A request is for no RPC", "/berth.v1.MemberService/DeleteMember", `{}`)
	s.raw(s.olga, "A request has an enum that is not there", "/berth.v1.MemberService/ListMembers", `{"status": "MEMBER_STATUS_ASLEEP"}`)
	s.refused(s.olga, "A request has many wrong fields", "INVALID_FIELD", &v1.CreateMemberRequest{Member: &v1.Member{
		Email: "nobody", Phone: "123", Tags: []string{"a", "a", ""}, Locale: "-",
	}})
	s.refused(s.olga, "A request has a text that is no text", "INVALID_FIELD", &v1.CreateMemberRequest{Member: &v1.Member{Name: "A\x00B"}})
	s.refused(s.olga, "A page is too large", "INVALID_FIELD", &v1.ListMembersRequest{PageSize: 501})
	s.refused(s.olga, "A request is too large", "REQUEST_TOO_LARGE", &v1.ImportSessionsRequest{Csv: bytes.Repeat([]byte("x"), 5<<20)})
}

// raw sends a text as it is, and writes down what came of it.
func (s *studio) raw(who person, title, path, body string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.address+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+who.token)
	response, answer := s.exchange(request)
	fmt.Fprintf(&s.text, "--- %s\n%s → %s\n%s\n", title, who.name, strings.TrimPrefix(path, "/berth.v1."), body)
	if json := strings.HasPrefix(response.Header.Get("Content-Type"), "application/json"); !json {
		fmt.Fprintf(&s.text, "← %s\n\n", response.Status)
		return
	}
	s.writeReply(reply{header: response.Header, failure: s.failureOf(answer)})
}

func (r *recording) exchange(request *http.Request) (*http.Response, []byte) {
	r.t.Helper()
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response, answer
}

// recordProtocols has the same answers over gRPC, and reads over GET.
func recordProtocols(s *studio) {
	s.at(on(5, "10:10"))
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

func (s *studio) grpc(who person, title string, request proto.Message) {
	s.t.Helper()
	method := procedure{methodsByRequest()[request.ProtoReflect().Descriptor().FullName()]}
	body, err := protojson.Marshal(request)
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(&s.text, "--- %s\n%s → %s [gRPC]\n", title, who.name, method.Short())
	s.write(body)
	answer, err := invoke(metadata.AppendToOutgoingContext(withToken(s.t.Context(), who.token), "x-request-id", slug(title)),
		dial(s.t, strings.TrimPrefix(s.address, "http://")), method, request)
	if err == nil {
		body, err := protojson.Marshal(answer)
		if err != nil {
			s.t.Fatal(err)
		}
		s.writeReply(reply{messages: [][]byte{body}})
		return
	}
	got := status.Convert(err)
	fmt.Fprintf(&s.text, "← %s\n%s\n", got.Code(), s.names.clean(got.Message(), "", ""))
	for _, detail := range got.Details() {
		message, isMessage := detail.(proto.Message)
		if !isMessage {
			s.t.Fatalf("%v", detail)
		}
		body, err := protojson.Marshal(message)
		if err != nil {
			s.t.Fatal(err)
		}
		s.write(body)
	}
	s.text.WriteString("\n")
}

// get asks by GET, as caches do, and gives the tag of the answer.
func (s *studio) get(who person, title string, message proto.Message, tag string) string {
	s.t.Helper()
	method := methodsByRequest()[message.ProtoReflect().Descriptor().FullName()]
	body, err := protojson.Marshal(message)
	if err != nil {
		s.t.Fatal(err)
	}
	path := fmt.Sprintf("%s/%s/%s?connect=v1&encoding=json&message=%s", s.address, method.Parent().FullName(), method.Name(), url.QueryEscape(string(body)))
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+who.token)
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, answer := s.exchange(request)
	fmt.Fprintf(&s.text, "--- %s\n%s → %s [GET]\n", title, who.name, shortName(method))
	s.write(body)
	fmt.Fprintf(&s.text, "← %s [Cache-Control: %s] [Vary: %s] [Etag: %t]\n", response.Status,
		response.Header.Get("Cache-Control"), response.Header.Values("Vary"), response.Header.Get("Etag") != "")
	if response.StatusCode == http.StatusOK {
		s.write(answer)
	}
	s.text.WriteString("\n")
	return response.Header.Get("Etag")
}

func recordEnds(s *studio) {
	s.at(on(5, "10:20"))
	conn, err := s.db.Owner.Begin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := conn.Exec(s.t.Context(), "lock table members in access exclusive mode"); err != nil {
		s.t.Fatal(err)
	}
	s.unsettled = true
	s.refused(s.mia, "Mia cannot wait", "DEADLINE_EXCEEDED", &v1.GetMeRequest{}, "Connect-Timeout-Ms", "1000")
	s.unsettled = false
	if err := conn.Rollback(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}

	method := methodsByRequest()[(*v1.WatchEventsRequest)(nil).ProtoReflect().Descriptor().FullName()]
	ctx, cancel := context.WithTimeout(s.t.Context(), sceneLength)
	defer cancel()
	response := s.open(ctx, s.mia, method, "application/connect+json", enveloped([]byte("{}")), nil)
	defer response.Body.Close()
	stopped := false
	got := s.readStream(response, func(r reply) bool {
		if len(r.messages) == 1 && !stopped { // it is open
			stopped = true
			s.settle()
			s.server.stop()
		}
		return false
	})
	fmt.Fprintf(&s.text, "--- Mia watches until the server stops\nmia → %s\n{}\n", shortName(method))
	got.messages = nil
	s.writeReply(got)
	if got.failure == nil || got.failure.reason() != "SHUTTING_DOWN" {
		s.t.Errorf("the stream ends with %+v", got.failure)
	}
	s.client.CloseIdleConnections()
	s.server.ended(s.t)
	s.server = nil
	s.at(on(5, "10:30"))
}

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
func errorsScript() script {
	return script{
		tokensScript(),
		invalidRequestsScript(),
		protocolsScript(),
		shutdownScript(),
	}
}

func tokensScript() script {
	const both, forger caller = "olga-of-both", "forger"
	return script{
		do(func(r *recording) {
			r.tokens[both] = r.sign("olga", studioID, golfID)
			r.tokens[forger] = r.token(mia)[:len(r.token(mia))-8] + "AAAAAAAA"
		}),
		anonymous.refused("A stranger reads the tenant", "UNAUTHENTICATED", &v1.GetTenantRequest{}),
		forger.refused("A forger reads the tenant", "UNAUTHENTICATED", &v1.GetTenantRequest{}),
		mia.refused("Mia reads the other tenant", "TENANT_FORBIDDEN", &v1.GetTenantRequest{TenantId: golfID}),
		mia.refused("Mia reads a tenant that is not there", "TENANT_FORBIDDEN", &v1.GetTenantRequest{TenantId: absentID}),
		mia.refused("Mia reads a tenant that has no UUID", "INVALID_FIELD", &v1.GetTenantRequest{TenantId: "harbour"}),
		both.refused("Olga names none of her tenants", "TENANT_REQUIRED", &v1.GetTenantRequest{}),
		both.calls("Olga names one of her tenants", &v1.GetTenantRequest{TenantId: studioID}),
		both.refused("Olga is no member of the other", "PERMISSION_DENIED", &v1.GetTenantRequest{TenantId: golfID}),
		kim.refused("Kim is no member at all", "NOT_A_MEMBER", &v1.GetMeRequest{}),
	}
}

func invalidRequestsScript() script {
	const create = "/berth.v1.MemberService/CreateMember"
	return script{
		olga.sends("A request has a field that is not there", create, `{"member": {"name": "Ada", "shoeSize": 38}}`),
		olga.sends("A request has a text for a message", create, `{"member": "Ada"}`),
		olga.sends("A request is no JSON", create, `{"member"`),
		olga.sends("A request is for no RPC", "/berth.v1.MemberService/DeleteMember", `{}`),
		olga.sends("A request has an enum that is not there", "/berth.v1.MemberService/ListMembers",
			`{"filter": {"statuses": ["MEMBER_STATUS_ASLEEP"]}}`),
		olga.refused("A request has many wrong fields", "INVALID_FIELD", &v1.CreateMemberRequest{Member: &v1.MemberInput{
			Email: "nobody", Phone: "123", Tags: []string{"a", "a", ""}, Locale: "-",
		}}),
		olga.refused("A request has a text that is no text", "INVALID_FIELD",
			&v1.CreateMemberRequest{Member: &v1.MemberInput{Name: "A\x00B"}}),
		olga.refused("A page is too large", "INVALID_FIELD", &v1.ListMembersRequest{PageSize: 501}),
		olga.refused("A request is too large", "REQUEST_TOO_LARGE",
			&v1.ImportSessionsRequest{Csv: bytes.Repeat([]byte("x"), 5<<20)}),
	}
}

// sends makes a call whose body is not a valid request, and records the response.
func (c caller) sends(title, path, body string) do {
	return func(r *recording) {
		r.t.Helper()
		response, answer := r.request(c, http.MethodPost, path, strings.NewReader(body), "Content-Type", "application/json")
		r.printf("--- %s\n%s → %s\n%s\n", title, c, strings.TrimPrefix(path, "/berth.v1."), body)
		if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
			r.printf("← %s\n\n", response.Status)
			return
		}
		r.writeResult(callResult{header: response.Header, err: r.errorOf(answer)})
	}
}

// request sends a request without Connect's protocol, and returns the response with its body.
func (r *recording) request(
	by caller, method, path string, body io.Reader, headers ...string,
) (*http.Response, []byte) {
	r.t.Helper()
	request := expect.Value(http.NewRequestWithContext(r.t.Context(), method, r.address+path, body))(r.t)
	if token := r.token(by); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response := expect.Value(r.client.Do(request))(r.t)
	defer response.Body.Close()
	return response, expect.Value(io.ReadAll(response.Body))(r.t)
}

// protocolsScript records the same responses over gRPC, and reads over GET.
func protocolsScript() script {
	read := &v1.GetSessionRequest{SessionId: "$evening"}
	return script{
		clock(on(5, "10:10")),
		class("evening", on(7, "18:00")),
		mia.callsByGRPC("Mia reads a session over gRPC", read),
		mia.callsByGRPC("Mia books over gRPC", &v1.BookRequest{SessionId: "$evening"}),
		mia.callsByGRPC("Mia books twice over gRPC", &v1.BookRequest{SessionId: "$evening"}),
		mia.callsByGRPC("Mia has a wrong field over gRPC", &v1.BookRequest{SessionId: "none"}),
		adam.callsByGRPC("The admin imports over gRPC", &v1.ImportMembersRequest{Csv: []byte("name\nCarl\n")}),
		do((*recording).settle),
		mia.gets("Mia reads the session by GET", read),
		mia.gets("Mia reads it again by GET", read, "If-None-Match", "$etag"),
		tom.gets("Tom reads it with Mia's tag", read, "If-None-Match", "$etag"),
		mia.gets("Mia reads her booking by GET", &v1.ListBookingsRequest{}),
		mia.gets("Mia books by GET", &v1.BookRequest{SessionId: "$evening"}),
	}
}

func (c caller) callsByGRPC(title string, request proto.Message) do {
	return func(r *recording) {
		r.t.Helper()
		method := procedure{methodOf(request)}
		body := r.bodyOf(request)
		r.writeCall(title, c, method, " [gRPC]", body)
		in := proto.CloneOf(request)
		must.NoError(r.t, protojson.Unmarshal(body, in))
		answer, err := invoke(
			metadata.AppendToOutgoingContext(withToken(r.t.Context(), r.token(c)), "x-request-id", requestIDOf(title)),
			dial(r.t, strings.TrimPrefix(r.address, "http://")), method, in,
		)
		if err == nil {
			r.writeResult(callResult{messages: [][]byte{expect.Value(protojson.Marshal(answer))(r.t)}})
			return
		}
		got := status.Convert(err)
		r.printf("← %s\n%s\n", got.Code(), r.names.normalizeText(got.Message(), "", ""))
		for _, detail := range got.Details() {
			message, isMessage := detail.(proto.Message)
			must.True(r.t, isMessage, must.Sprintf("%v", detail))
			r.writeJSON(expect.Value(protojson.Marshal(message))(r.t))
		}
		r.printf("\n")
	}
}

// gets records a GET request, and keeps the tag of the response.
func (c caller) gets(title string, request proto.Message, headers ...string) do {
	return func(r *recording) {
		r.t.Helper()
		method := methodOf(request)
		body := r.bodyOf(request)
		path := fmt.Sprintf(
			"/%s/%s?connect=v1&encoding=json&message=%s", method.Parent().FullName(), method.Name(),
			url.QueryEscape(string(body)),
		)
		for i := range headers {
			headers[i] = r.expand(headers[i])
		}
		response, answer := r.request(c, http.MethodGet, path, nil, headers...)
		tag := response.Header.Get("Etag")
		r.kept["etag"] = tag
		r.writeCall(title, c, method, " [GET]", body)
		r.printf("← %s [Cache-Control: %s] [Vary: %s] [Etag: %t]\n", response.Status,
			response.Header.Get("Cache-Control"), response.Header.Values("Vary"), tag != "")
		if response.StatusCode == http.StatusOK {
			r.writeJSON(answer)
		}
		r.printf("\n")
	}
}

func shutdownScript() script {
	return script{
		clock(on(5, "10:20")),
		do(func(r *recording) {
			r.noSettle = true
			locked := expect.Value(r.db.Owner.Begin(r.t.Context()))(r.t)
			expect.OK(r.t)(locked.Exec(r.t.Context(), "lock table members in access exclusive mode"))
			mia.refused("Mia cannot wait", "DEADLINE_EXCEEDED", &v1.GetMeRequest{}, "Connect-Timeout-Ms", "1000").play(r)
			must.NoError(r.t, locked.Rollback(r.t.Context()))
			r.noSettle = false
		}),
		do((*recording).stopUnderStream),
		clock(on(5, "10:30")),
	}
}

// stopUnderStream stops the server while Mia watches events.
func (r *recording) stopUnderStream() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), sceneLength)
	defer cancel()
	watch := methodOf(&v1.WatchEventsRequest{})
	response := r.open(ctx, mia, watch, "application/connect+json", envelope([]byte("{}")), nil)
	defer response.Body.Close()
	stopped := false
	got := r.readStream(response, func(so callResult) bool {
		if len(so.messages) == 1 && !stopped { // the stream is open
			stopped = true
			r.settle()
			r.server.stop()
		}
		return false
	})
	r.writeCall("Mia watches until the server stops", mia, watch, "", []byte("{}"))
	got.messages = nil
	r.writeResult(got)
	must.NotNil(r.t, got.err, must.Sprintf("the stream ends with %+v", got.err))
	test.EqOp(r.t, "SHUTTING_DOWN", got.err.reason(), test.Sprintf("the stream ends with %+v", got.err))
	r.client.CloseIdleConnections()
	r.server.wait(r.t)
	r.server = nil
}

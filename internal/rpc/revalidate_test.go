package rpc

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// get sends a GET request as a browser does, with the headers of its cache.
func (s *testServer) get(t *testing.T, procedure string, message proto.Message, header http.Header) httpResponse {
	t.Helper()
	query := url.Values{
		"connect": {"v1"}, "encoding": {"json"}, "base64": {"1"},
		"message": {base64.RawURLEncoding.EncodeToString(expect.Value(protojson.Marshal(message))(t))},
	}
	return send(t, s.Client, http.MethodGet, s.URL+procedure+"?"+query.Encode(), header, "")
}

func bearer(token string, tags ...string) http.Header {
	header := http.Header{"Authorization": {"Bearer " + token}}
	if len(tags) > 0 {
		header["If-None-Match"] = tags
	}
	return header
}

func TestRevalidate_ReturnsNotModified(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	class := s.create(t, s.input(monday.Add(29*time.Hour)))
	week := &v1.ListSessionsRequest{Filter: weekFilter()}
	getWeek := func(subject string, tags ...string) httpResponse {
		return s.get(t, berthv1connect.SessionServiceListSessionsProcedure, week, bearer(s.Token(t, subject), tags...))
	}
	book := func(subject string) {
		t.Helper()
		expect.OK(t)(s.call(t, s.Token(t, subject), &v1.BookRequest{SessionId: class.GetId()}))
	}

	first := getWeek("member")
	tag := first.Header.Get("Etag")
	must.EqOp(t, http.StatusOK, first.Status)
	must.NotEqOp(t, "", tag)
	must.EqOp(t, "private, no-cache", first.Header.Get("Cache-Control"))
	for _, vary := range []string{"Authorization", "Accept-Encoding"} {
		test.True(
			t, slices.Contains(first.Header.Values("Vary"), vary), test.Sprintf("Vary is %q", first.Header.Values("Vary")),
		)
	}
	revalidated := getWeek("member", tag)
	test.EqOp(t, http.StatusNotModified, revalidated.Status, test.Sprintf("unchanged page: %+v", revalidated))
	test.EqOp(t, "", revalidated.Body, test.Sprintf("unchanged page: %+v", revalidated))
	test.EqOp(t, tag, revalidated.Header.Get("Etag"), test.Sprintf("unchanged page: %+v", revalidated))
	test.EqOp(t, "private, no-cache", revalidated.Header.Get("Cache-Control"),
		test.Sprintf("unchanged page: %+v", revalidated))
	test.True(t, slices.Contains(revalidated.Header.Values("Vary"), "Authorization"),
		test.Sprintf("unchanged page: %+v", revalidated))
	test.EqOp(t, http.StatusNotModified, getWeek("member", `"other", `+strings.TrimPrefix(tag, "W/")).Status,
		test.Sprint("one of several tags, strong"))
	test.EqOp(t, http.StatusOK, getWeek("member", `W/"other"`).Status, test.Sprint("another tag"))

	book("coach")
	second := getWeek("member", tag)
	test.EqOp(t, http.StatusOK, second.Status, test.Sprintf("after another booking: %+v", second))
	test.NotEqOp(t, tag, second.Header.Get("Etag"), test.Sprintf("after another booking: %+v", second))
	test.StrContains(t, second.Body, `"seatsTaken":1`, test.Sprintf("after another booking: %+v", second))
	book("member")
	third := getWeek("member", tag, second.Header.Get("Etag"))
	test.EqOp(t, http.StatusOK, third.Status, test.Sprintf("they have booked: %+v", third))
	test.StrContains(t, third.Body, "ELIGIBILITY_STATUS_BOOKED", test.Sprintf("they have booked: %+v", third))
}

func TestRevalidate_TagsDependOnCaller(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	other := s.NewTenant(t, "Other Club")
	empty := &v1.ListSessionsRequest{Filter: weekFilter()} // the response is the same for everyone
	tags := make(map[string]string)
	for name, token := range map[string]string{
		"a member": s.Token(t, "member"), "a coach": s.Token(t, "coach"),
		"same subject in another tenant": s.Token(t, "member", other),
	} {
		got := s.get(t, berthv1connect.SessionServiceListSessionsProcedure, empty, bearer(token))
		must.EqOp(t, http.StatusOK, got.Status, must.Sprintf("%s: %+v", name, got))
		must.EqOp(t, "{}", got.Body, must.Sprintf("%s: %+v", name, got))
		tags[name] = got.Header.Get("Etag")
	}
	for name, tag := range tags {
		test.EqOp(t, map[bool]int{true: http.StatusNotModified, false: http.StatusOK}[name == "a member"],
			s.get(t, berthv1connect.SessionServiceListSessionsProcedure, empty, bearer(s.Token(t, "member"), tag)).Status,
			test.Sprintf("the member caches the response to %s", name))
	}
	for name, header := range map[string]http.Header{
		"no token":          {"If-None-Match": {"*"}},
		"a token of no use": bearer("x.y.z", "*"),
		"stranger":          bearer(s.Token(t, "stranger"), "*"),
	} {
		got := s.get(t, berthv1connect.SessionServiceListSessionsProcedure, empty, header)
		test.True(t, got.Status == http.StatusUnauthorized || got.Status == http.StatusForbidden,
			test.Sprintf("%s: %+v", name, got))
		test.EqOp(t, "", got.Header.Get("Etag"), test.Sprintf("%s: %+v", name, got))
		test.EqOp(t, "no-store", got.Header.Get("Cache-Control"), test.Sprintf("%s: %+v", name, got))
	}
}

// All RPCs without side effects are served on GET, and no others. Caches may store only what everyone in the tenant may
// see.
func TestRules_ListCacheableReads(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	rules := expect.Value(admission.Rules())(t)
	var kept []string
	for procedure, rule := range rules {
		if rule.Cacheable {
			kept = append(kept, procedure[strings.LastIndex(procedure, "/")+1:])
		}
		got := send(
			t, s.Client, http.MethodGet, s.URL+procedure+"?connect=v1&encoding=json&message={}",
			bearer(s.Token(t, "stranger")), "",
		)
		refused := got.Status == http.StatusMethodNotAllowed ||
			got.Status == http.StatusUnsupportedMediaType
		// A stream is not served over GET, and a link's token would be in the URL.
		over := rule.ReadOnly && !slices.Contains([]string{
			berthv1connect.EventServiceWatchEventsProcedure, berthv1connect.CheckInServiceGetCheckInDisplayProcedure,
			berthv1connect.WaitlistServiceGetWaitlistClaimProcedure,
		}, procedure)
		test.EqOp(t, over, !refused, test.Sprintf("GET %s: %d", procedure, got.Status))
		test.EqOp(t, "no-store", got.Header.Get("Cache-Control"),
			test.Sprintf("GET %s: %q for a stranger", procedure, got.Header.Get("Cache-Control")))
	}
	slices.Sort(kept)
	want := []string{
		"GetBenefitProvider", "GetItem", "GetLocation", "GetPlan", "GetPolicy", "GetResource", "GetService", "GetSession",
		"GetTenant", "GetWorkout", "ListBenefitProviders", "ListItems", "ListLocations", "ListPlans",
		"ListResources", "ListServices", "ListSessions", "ListWorkouts",
	}
	test.SliceEqOp(t, want, kept, test.Sprint("kept are the answers of"))
	me := s.get(t, berthv1connect.MemberServiceGetMeProcedure, &v1.GetMeRequest{}, bearer(s.Token(t, "member"), "*"))
	test.EqOp(t, http.StatusOK, me.Status)
	test.EqOp(t, "", me.Header.Get("Etag"))
	test.EqOp(t, "no-store", me.Header.Get("Cache-Control"))
}

// The tag does not depend on encoding, compression or query. POST and gRPC responses have no tag.
func TestEntityTag_IsThatOfEveryEncoding(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ask := &v1.GetTenantRequest{}
	plain := s.get(t, berthv1connect.TenantServiceGetTenantProcedure, ask, bearer(s.Token(t, "owner")))
	client := berthv1connect.NewTenantServiceClient(s.Client, s.URL, connect.WithHTTPGet())
	binary := expect.Value(client.GetTenant(t.Context(), as(s.Token(t, "owner"), ask)))(t)
	test.NotEqOp(t, "", plain.Header.Get("Etag"))
	test.EqOp(t, plain.Header.Get("Etag"), binary.Header().Get("Etag"), test.Sprint("as JSON, and in binary"))
	request := as(s.Token(t, "owner"), ask)
	request.Header().Set("If-None-Match", plain.Header.Get("Etag"))
	test.True(t, connect.IsNotModifiedError(errorOf(client.GetTenant(t.Context(), request))))
	test.MapContainsKey(t, expect.Metrics(t, s.metrics, "berth_rpc_requests_total"),
		"berth_rpc_requests_total code=not_modified procedure=berth.v1.TenantService/GetTenant reason=")
	posted := expect.Value(berthv1connect.NewTenantServiceClient(s.Client, s.URL).GetTenant(t.Context(), request))(t)
	test.EqOp(t, "", posted.Header().Get("Etag"))
	test.EqOp(t, "no-store", posted.Header().Get("Cache-Control"))
}

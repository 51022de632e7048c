package web

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/traffic"
)

// Members who open their links behind one address do not use up what is allowed there.
func TestLinks_AreLimitedByAddressIfTheyDoNotExist(t *testing.T) {
	t.Parallel()
	addresses := traffic.NewAddresses(traffic.Rate{PerSecond: 0.1, Burst: 5}, nil, testkit.NewClock(testkit.Noon).Now)
	pages := limitInvalid(addresses, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/wrong") {
			http.NotFound(w, r)
		}
	}))
	for i, step := range []struct {
		path  string
		times int
		want  map[int]int // responses by status
	}{
		{"/right", 300, map[int]int{http.StatusOK: 300}},
		{"/wrong", 7, map[int]int{http.StatusNotFound: 5, http.StatusTooManyRequests: 2}},
		{messages.TwilioPath, 1, map[int]int{http.StatusServiceUnavailable: 1}},
	} {
		got := make(map[int]int)
		for range step.times {
			w := httptest.NewRecorder()
			pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, step.path, nil))
			got[w.Code]++
			refused := w.Code == http.StatusTooManyRequests || w.Code == http.StatusServiceUnavailable
			test.EqOp(t, refused, w.Header().Get("Retry-After") == "10")
		}
		test.Eq(t, step.want, got, test.Sprintf("step %d", i))
	}
}

// Who reads the logs must not be able to open the links of others, not even those that failed.
func TestLinks_StayOutOfTheLogs(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	seals, ana := s.Config().Seals, s.AddMember("Ana").Member
	some := base64.RawURLEncoding.EncodeToString(append(s.Tenant.UUID[:], ana.UUID[:]...))
	links := map[string]string{
		"display": s.link(), "claim": waitlists.ClaimPath + some, "calendar": messages.CalendarPath + some + ".ics",
		"confirmation": accounts.ConfirmPath + contacts.Codes{Seals: seals}.WriteLink(
			contacts.Link{Tenant: s.Tenant, Member: ana},
		),
		"unsubscribe": messages.UnsubscribePath + seals.Sign(
			s.Tenant, "unsubscribe", append(append([]byte{'m'}, ana.UUID[:]...), "CREDITS_LOW"...),
		),
	}
	s.Exec(`revoke select on all tables in schema public from berth_app`)
	for name, link := range links {
		response, _ := s.get(link, 0)
		test.EqOp(t, http.StatusServiceUnavailable, response.StatusCode, test.Sprint(name))
		test.StrNotContains(t, s.log.String(), link[len(link)-20:], test.Sprint(name))
	}
	test.EqOp(t, len(links), strings.Count(s.log.String(), "level=ERROR"), test.Sprint(s.log.String()))
}

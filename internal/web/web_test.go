package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoenig/test"

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
	} {
		got := make(map[int]int)
		for range step.times {
			w := httptest.NewRecorder()
			pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, step.path, nil))
			got[w.Code]++
			test.EqOp(t, w.Code == http.StatusTooManyRequests, w.Header().Get("Retry-After") == "10")
		}
		test.Eq(t, step.want, got, test.Sprintf("step %d", i))
	}
}

package traffic

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestCounter_LimitsEachKey(t *testing.T) {
	t.Parallel()
	c := Counter[string]{Max: 10}
	c.Remove("nothing", 0)
	for i, step := range []struct {
		key  string
		n    int
		want bool
	}{
		{"a", 7, true}, {"a", 4, false}, {"b", 10, true}, {"a", 3, true}, {"a", 1, false}, {"b", 1, false},
	} {
		test.EqOp(t, step.want, c.Add(step.key, step.n), test.Sprintf("step %d", i))
	}
	c.Remove("a", 10)
	release, ok := c.Take("a")
	must.True(t, ok)
	release()
	c.Remove("b", 10)
	test.MapEmpty(t, c.open)
	test.True(t, new(Counter[string]).Add("a", 1<<40), test.Sprint("no limit"))
}

// Connections have many requests at once over HTTP/2, so a limit of connections is not enough.
func TestLimitRequests_OfEachAddress(t *testing.T) {
	t.Parallel()
	entered, proceed := make(chan struct{}, 2), make(chan struct{})
	handler := LimitRequests(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-proceed
	}), Proxies{netip.MustParsePrefix("10.0.0.1/32")}, 2)
	serve := func(from, forwarded string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.RemoteAddr = from
		request.Header.Set("X-Forwarded-For", forwarded)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder
	}
	done := make(chan int, 3)
	for range 2 {
		go func() { done <- serve("192.0.2.1:80", "192.0.2.7").Code }()
		<-entered
	}
	refused := serve("10.0.0.1:80", "192.0.2.1")
	test.EqOp(t, http.StatusTooManyRequests, refused.Code)
	test.EqOp(t, "1", refused.Header().Get("Retry-After"))
	go func() { done <- serve("10.0.0.1:80", "192.0.2.2").Code }()
	<-entered
	for range 3 {
		proceed <- struct{}{}
		test.EqOp(t, http.StatusOK, <-done)
	}
	close(proceed)
	test.EqOp(t, http.StatusOK, serve("192.0.2.1:80", "").Code, test.Sprint("when they are done"))
}

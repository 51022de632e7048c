package bench

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/lab/bench/report"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A second booking by a member would be refused, and the run would fail. A rush must find all its places free.
func TestLoads_BookNoSeatTwiceAndLeaveRushesTheirSessions(t *testing.T) {
	t.Parallel()
	const callers, turns, rounds = 20, 300, 3
	h := &testbed{size: dbSize{tenants: 40}}
	seen, rushes := make(map[seat]string), make(map[int]bool)
	for range rounds {
		spread := expect.Value(h.spread(callers))(t)
		for load, next := range map[string]target{
			spreadLoad: spread, zipfLoad: h.zipf(callers), hotLoad: h.hot(), tenantsLoad: h.allTenants(),
		} {
			for n := range turns {
				for i := range callers {
					target, ok := next(i, n)
					must.True(t, ok, must.Sprintf("%s has come to its end", load))
					before, twice := seen[target]
					must.False(t, twice, must.Sprintf("%v is booked by %s and by %s", target, before, load))
					seen[target] = load
					must.False(
						t, load != hotLoad && target.tenant == mainTenant &&
							(target.session >= openSessions || rushes[target.session]),
						must.Sprintf("%s books session %d, which is for hot and rush", load, target.session),
					)
				}
			}
		}
		rush, ok := h.unusedSession()
		for target, load := range seen {
			must.True(t, target.tenant != mainTenant || target.session != rush,
				must.Sprintf("the rush is in session %d, which %s has booked", rush, load))
			must.True(t, ok, must.Sprintf("the rush is in session %d, which %s has booked", rush, load))
		}
		rushes[rush] = true
	}
}

func TestOptions_CasesAreThoseThatCanBeMeasured(t *testing.T) {
	t.Parallel()
	o := Options{
		Work:      []string{bookOnly, "reschedule"},
		Workloads: []string{spreadLoad, rushLoad, mixedLoad, tenantsLoad, quietLoad, neighborLoad},
		Via:       []string{report.Direct, report.GRPC, report.Naive}, Clients: []int{1, 8}, Nodes: []int{1, 2},
	}
	var got []string
	for _, one := range o.cases(dbSize{tenants: 100}) {
		got = append(got, strings.TrimSuffix(one.String(), ", 100 tenants, 0 bookings"))
	}
	want := []string{
		"spread book, pgbench, 16 callers",
		"spread book, direct, 1 caller", "spread book, direct, 1 caller, 2 nodes",
		"spread book, grpc, 1 caller", "spread book, naive, 1 caller",
		"spread book, direct, 8 callers", "spread book, direct, 8 callers, 2 nodes",
		"spread book, grpc, 8 callers", "spread book, naive, 8 callers",
		"spread reschedule, grpc, 1 caller", "spread reschedule, grpc, 8 callers",
		"rush book, direct, 2,000 callers", "rush book, direct, 2,000 callers, 2 nodes",
		"rush book, grpc, 2,000 callers", "rush book, naive, 2,000 callers",
		"mixed mixed, direct, 1 caller", "mixed mixed, direct, 1 caller, 2 nodes", "mixed mixed, grpc, 1 caller",
		"mixed mixed, direct, 8 callers", "mixed mixed, direct, 8 callers, 2 nodes", "mixed mixed, grpc, 8 callers",
		"tenants book, direct, 1 caller", "tenants book, direct, 1 caller, 2 nodes",
		"tenants book, direct, 8 callers", "tenants book, direct, 8 callers, 2 nodes",
		"quiet read-only, grpc, 1 caller", "quiet book+cancel, grpc, 1 caller",
		"neighbor read-only, grpc, 1 caller", "neighbor book+cancel, grpc, 1 caller",
	}
	test.Eq(t, want, got)
}

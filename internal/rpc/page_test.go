package rpc

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
)

type row struct {
	Start time.Time
	ID    tenant.SessionID
}

func TestParsePage_LimitsSize(t *testing.T) {
	t.Parallel()
	for size, want := range map[int32]int{0: 50, 1: 1, 500: 500, 501: 500} {
		p, err := convert.ParsePage[row](&v1.ListMyBookingsRequest{PageSize: size})
		if err != nil || p.Size != want || p.After != nil {
			t.Errorf("%d: %+v, %v", size, p, err)
		}
	}
}

func TestPageToken_RejectsOtherQueries(t *testing.T) {
	t.Parallel()
	query := &v1.ListMyBookingsRequest{
		TenantId: tenantA.String(), Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CONFIRMED}, PageSize: 7,
		StartsWithin: &v1.TimeRange{Start: timestamppb.New(time.Unix(1, 0))},
	}
	first, err := convert.ParsePage[row](query)
	if err != nil {
		t.Fatal(err)
	}
	last := row{time.Date(2026, 3, 29, 1, 30, 0, 123456000, time.UTC), convert.ID[tenant.SessionID](someSession)}
	token, err := first.NextToken(last)
	if err != nil {
		t.Fatal(err)
	}
	if len(token) > 500 {
		t.Errorf("the contract refuses a token of %d characters", len(token))
	}
	for name, change := range map[string]func(*v1.ListMyBookingsRequest){
		"same":          func(*v1.ListMyBookingsRequest) {},
		"smaller pages": func(r *v1.ListMyBookingsRequest) { r.PageSize = 1 },
	} {
		r := proto.CloneOf(query)
		r.PageToken = token
		change(r)
		p, err := convert.ParsePage[row](r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(&last, p.After); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*v1.ListMyBookingsRequest){
		"other tenant": func(r *v1.ListMyBookingsRequest) { r.TenantId = tenantB.String() },
		"other filter": func(r *v1.ListMyBookingsRequest) { r.Statuses = nil },
		"other span":   func(r *v1.ListMyBookingsRequest) { r.StartsWithin.Start.Seconds++ },
		"nonsense":     func(r *v1.ListMyBookingsRequest) { r.PageToken = "?" },
		"too short":    func(r *v1.ListMyBookingsRequest) { r.PageToken = "AAAA" },
		"no position": func(r *v1.ListMyBookingsRequest) {
			r.PageToken = base64.RawURLEncoding.EncodeToString(raw[:convert.QueryHashSize])
		},
	} {
		r := proto.CloneOf(query)
		r.PageToken = token
		change(r)
		_, err := convert.ParsePage[row](r)
		if fault.ReasonOf(err) != fault.InvalidField {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPageToken_RejectsOtherLists(t *testing.T) {
	t.Parallel()
	roles, err := convert.ParsePage[string](&v1.ListRolesRequest{TenantId: tenantA.String()})
	if err != nil {
		t.Fatal(err)
	}
	token, err := roles.NextToken("gardener")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := convert.ParsePage[string](&v1.ListRolesRequest{
		TenantId: tenantA.String(), PageToken: token,
	}); err != nil {
		t.Error(err)
	}
	_, err = convert.ParsePage[string](&v1.ListServiceAccountsRequest{TenantId: tenantA.String(), PageToken: token})
	if fault.ReasonOf(err) != fault.InvalidField {
		t.Errorf("a request that looks the same takes it: %v", err)
	}
}

func TestPaginate_LastPageHasNoToken(t *testing.T) {
	t.Parallel()
	for rows, more := range map[int]bool{0: false, 1: false, 2: false, 3: true} {
		page, next, err := convert.Paginate(convert.Page[int]{Size: 2}, make([]int, rows), func(r int) int { return r })
		if err != nil || len(page) != min(rows, 2) || more != (next != "") {
			t.Errorf("of %d rows: %d and the token %q (%v)", rows, len(page), next, err)
		}
	}
}

// Rows are inserted and deleted between pages. Rows that exist all the time are returned once.
func TestPaginate_IsStableUnderInserts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfDistinct(rapid.IntRange(0, 1000), rapid.ID[int]).Draw(t, "rows")
		slices.Sort(rows)
		stay := slices.Clone(rows)
		request := &v1.ListAuditEntriesRequest{PageSize: int32(rapid.IntRange(1, 5).Draw(t, "size"))}
		var seen []int
		for {
			p, err := convert.ParsePage[int](request)
			if err != nil {
				t.Fatal(err)
			}
			from := 0
			if p.After != nil {
				from, _ = slices.BinarySearch(rows, *p.After+1)
			}
			page, next, err := convert.Paginate(p, rows[from:min(from+p.Size+1, len(rows))], func(r int) int { return r })
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, page...)
			if next == "" {
				break
			}
			request.PageToken = next
			change := rapid.IntRange(0, 1000).Draw(t, "change")
			if at, found := slices.BinarySearch(rows, change); found {
				rows = slices.Delete(rows, at, at+1)
				stay = slices.DeleteFunc(stay, func(r int) bool { return r == change })
			} else {
				rows = slices.Insert(rows, at, change)
			}
		}
		if !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Fatalf("twice or out of order: %v", seen)
		}
		for _, r := range stay {
			if !slices.Contains(seen, r) {
				t.Fatalf("%d stayed and was not seen in %v", r, seen)
			}
		}
	})
}

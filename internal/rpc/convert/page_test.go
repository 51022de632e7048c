package convert_test

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const (
	tenantA = "0190a000-0000-7000-8000-00000000000a"
	tenantB = "0190a000-0000-7000-8000-00000000000b"
)

type row struct {
	Start time.Time
	ID    tenant.SessionID
}

func TestParsePage_LimitsSize(t *testing.T) {
	t.Parallel()
	for size, want := range map[int32]int{0: 50, 1: 1, 500: 500, 501: 500} {
		p := expect.Value(convert.ParsePage[row](&v1.ListBookingsRequest{PageSize: size}))(t)
		test.EqOp(t, want, p.Size, test.Sprintf("%d: %+v", size, p))
		test.Nil(t, p.After, test.Sprintf("%d: %+v", size, p))
	}
}

func TestPageToken_RejectsOtherQueries(t *testing.T) {
	t.Parallel()
	query := &v1.ListBookingsRequest{
		TenantId: tenantA, PageSize: 7, Filter: &v1.BookingFilter{
			Statuses:     []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CONFIRMED},
			StartsWithin: &v1.TimeRange{Start: timestamppb.New(time.Unix(1, 0))},
		},
	}
	last := row{time.Date(2026, 3, 29, 1, 30, 0, 123456000, time.UTC), convert.ID[tenant.SessionID](someID)}
	token := expect.Value(convert.ParsePage[row](query))(t).NextToken(last)
	test.True(t, len(token) <= 500, test.Sprintf("the contract refuses a token of %d characters", len(token)))
	with := func(changes *v1.ListBookingsRequest) *v1.ListBookingsRequest {
		request := proto.CloneOf(query)
		request.PageToken = token
		proto.Merge(request, changes)
		return request
	}
	for _, size := range []int32{7, 1} {
		test.Eq(t, &last, expect.Value(
			convert.ParsePage[row](with(&v1.ListBookingsRequest{PageSize: size})))(t).After,
			test.Sprintf("pages of %d", size))
	}
	raw := expect.Value(base64.RawURLEncoding.DecodeString(token))(t)
	for name, changes := range map[string]*v1.ListBookingsRequest{
		"other tenant": {TenantId: tenantB},
		"other filter": {Filter: &v1.BookingFilter{Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CANCELLED}}},
		"other span": {Filter: &v1.BookingFilter{
			StartsWithin: &v1.TimeRange{Start: timestamppb.New(time.Unix(2, 0))},
		}},
		"nonsense":    {PageToken: "?"},
		"too short":   {PageToken: "AAAA"},
		"no position": {PageToken: base64.RawURLEncoding.EncodeToString(raw[:convert.QueryHashSize])},
	} {
		expect.Reason(t, fault.InvalidField, name)(convert.ParsePage[row](with(changes)))
	}
}

func TestPageToken_RejectsOtherLists(t *testing.T) {
	t.Parallel()
	token := expect.Value(convert.ParsePage[string](&v1.ListRolesRequest{TenantId: tenantA}))(t).NextToken("gardener")
	_, err := convert.ParsePage[string](&v1.ListRolesRequest{
		TenantId: tenantA, PageToken: token,
	})
	test.NoError(t, err)
	expect.Reason(t, fault.InvalidField, "a request that looks the same takes it")(
		convert.ParsePage[string](&v1.ListServiceAccountsRequest{TenantId: tenantA, PageToken: token}),
	)
}

func TestPaginate_LastPageHasNoToken(t *testing.T) {
	t.Parallel()
	for rows, more := range map[int]bool{0: false, 1: false, 2: false, 3: true} {
		page, next := convert.Paginate(convert.Page[int]{Size: 2}, make([]int, rows), func(r int) int { return r })
		test.SliceLen(t, min(rows, 2), page, test.Sprintf("of %d rows: %d and the token %q", rows, len(page), next))
		test.EqOp(t, (next != ""), more, test.Sprintf("of %d rows: %d and the token %q", rows, len(page), next))
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
			p := expect.Value(convert.ParsePage[int](request))(t)
			from := 0
			if p.After != nil {
				from, _ = slices.BinarySearch(rows, *p.After+1)
			}
			page, next := convert.Paginate(p, rows[from:min(from+p.Size+1, len(rows))], func(r int) int { return r })
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
		must.True(t, slices.IsSorted(seen), must.Sprintf("twice or out of order: %v", seen))
		must.SliceLen(t, len(seen), slices.Compact(slices.Clone(seen)), must.Sprintf("twice or out of order: %v", seen))
		for _, r := range stay {
			must.True(t, slices.Contains(seen, r), must.Sprintf("%d stayed and was not seen in %v", r, seen))
		}
	})
}

package convert_test

import (
	"testing"

	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// For any token: ParsePage does not panic, and a cursor that it accepts is the same when its token is read again.
func FuzzParsePage(f *testing.F) {
	list := func(token string) *v1.ListMembersRequest {
		return &v1.ListMembersRequest{Filter: &v1.MemberFilter{Query: "a"}, PageToken: token}
	}
	first := expect.Value(convert.ParsePage[convert.NameCursor](list("")))(f)
	f.Add(first.NextToken(convert.NameCursor{Name: "Ada"}))
	f.Add(first.NextToken(convert.NameCursor{Name: "\x00"}))
	f.Add("AAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, token string) {
		page, err := convert.ParsePage[convert.NameCursor](list(token))
		if err != nil {
			must.ErrorIs(t, err, convert.ErrPageToken)
			return
		}
		if token == "" {
			return
		}
		again, err := convert.ParsePage[convert.NameCursor](
			list(page.NextToken(*page.After)),
		)
		must.NoError(t, err)
		must.Eq(t, page.After, again.After)
	})
}

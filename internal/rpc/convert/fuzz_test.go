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
	first := expect.Value(convert.ParsePage[convert.NameCursor](&v1.ListMembersRequest{Query: "a"}))(f)
	f.Add(first.NextToken(convert.NameCursor{Name: "Ada"}))
	f.Add(first.NextToken(convert.NameCursor{Name: "\x00"}))
	f.Add("AAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, token string) {
		page, err := convert.ParsePage[convert.NameCursor](&v1.ListMembersRequest{Query: "a", PageToken: token})
		if err != nil {
			must.ErrorIs(t, err, convert.ErrPageToken)
			return
		}
		if token == "" {
			return
		}
		again, err := convert.ParsePage[convert.NameCursor](
			&v1.ListMembersRequest{Query: "a", PageToken: page.NextToken(*page.After)},
		)
		must.NoError(t, err)
		must.Eq(t, page.After, again.After)
	})
}

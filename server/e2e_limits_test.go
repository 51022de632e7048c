package main

import (
	"bytes"
	"testing"

	"connectrpc.com/connect"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/tenant"
)

// The largest import file is accepted in its largest encoding, and its import starts. A request above the limit is
// rejected, also if it exceeds the limit only after decompression.
func TestRequestSize_IsLimitedAfterDecompression(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	raw := newWorld(t, live).token(tenant.RoleOwner)
	for name, tc := range map[string]struct {
		options []connect.ClientOption
		size    int
		want    string
	}{
		"Connect":       {nil, 7 << 20, "REQUEST_TOO_LARGE"},
		"JSON":          {[]connect.ClientOption{connect.WithProtoJSON()}, 5 << 20, "REQUEST_TOO_LARGE"}, // in Base64
		"gRPC":          {[]connect.ClientOption{connect.WithGRPC()}, 7 << 20, "REQUEST_TOO_LARGE"},
		"gRPC-Web":      {[]connect.ClientOption{connect.WithGRPCWeb()}, 7 << 20, "REQUEST_TOO_LARGE"},
		"gRPC, gzipped": {[]connect.ClientOption{connect.WithGRPC(), connect.WithSendGzip()}, 7 << 20, "REQUEST_TOO_LARGE"},
		"JSON, fitting": {[]connect.ClientOption{connect.WithProtoJSON()}, 3_000_000, ""},
	} {
		_, err := berthv1connect.NewMemberServiceClient(h2c, "http://"+live.Address, tc.options...).
			ImportMembers(t.Context(), as(raw, &v1.ImportMembersRequest{Csv: bytes.Repeat([]byte("x"), tc.size)}))
		test.EqOp(t, tc.want, reasonOf(err), test.Sprintf("%s: %v", name, err))
	}
}

// reasonOf reads the reason from an error of a Connect client.
func reasonOf(err error) string { return connectOutcome(err).Reason }

package admission

import (
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/rpctest"
)

// The reasons in the contract and in the code are the same.
func TestReasons_MatchContract(t *testing.T) {
	t.Parallel()
	var promised []string
	for name := range v1.ErrorReason_value {
		promised = append(promised, strings.TrimPrefix(name, "ERROR_REASON_"))
	}
	test.SliceContainsAll(t, append(rpctest.Constants(t, "../../fault/reason.go", "Reason"), "UNSPECIFIED"), promised)
}

func TestCodes_CoverEveryKind(t *testing.T) {
	t.Parallel()
	seen := make(map[connect.Code]bool)
	for kind := fault.Internal; kind <= fault.DeadlineExceeded; kind++ {
		code, ok := codes[kind]
		must.True(t, ok, must.Sprintf("kind %d has the code %v", kind, code))
		test.False(t, seen[code], test.Sprintf("kind %d has the code %v", kind, code))
		seen[code] = true
	}
}

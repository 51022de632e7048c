package smtp

import (
	"fmt"
	"net"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/provider"
)

// Otherwise tenants could find out which names exist in the network of the server.
func TestUnreachable_IsTheSameForPrivateAndUnknownNames(t *testing.T) {
	t.Parallel()
	private := unreachable(fmt.Errorf("dial: %w", provider.ErrNotPublic))
	unknown := unreachable(fmt.Errorf("dial: %w", &net.DNSError{Name: "mail.internal", IsNotFound: true}))
	test.EqOp(t, *private, *unknown)
}

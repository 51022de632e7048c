package localbox

import (
	"context"
	"slices"
	"sync"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// maxKept is how many messages a Box keeps.
const maxKept = 100

// Box keeps the newest messages in memory, for developers without a mail server.
type Box struct {
	mu   sync.Mutex
	kept []delivery.Message
}

// Send keeps a message.
func (b *Box) Send(_ context.Context, m delivery.Message) (delivery.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = append(b.kept, m)
	b.kept = b.kept[max(0, len(b.kept)-maxKept):]
	return delivery.Receipt{ProviderID: m.ID.String(), Status: delivery.Sent}, nil
}

// Messages returns what was kept, the newest first.
func (b *Box) Messages() []delivery.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.kept)
	slices.Reverse(all)
	return all
}

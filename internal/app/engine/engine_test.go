package engine

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
)

// Keys and advisory locks are of one kind, one name and one tenant. A name has its parts: it is no text that can be cut
// in another place.
func TestKeys_AreDistinct(t *testing.T) {
	t.Parallel()
	keys := []Key{
		NameKey("queue", "a"), NameKey("queue", "b"), NameKey("line", "a"), NameKey("queue", "a", "b"),
		NameKey("queue", "a b"),
	}
	locks := []int64{advisoryLock(in(1), named(1)), advisoryLock(in(1), named(2)), advisoryLock(in(2), named(1))}
	test.Eq(t, keys, pg.Distinct(keys))
	test.Eq(t, locks, pg.Distinct(locks))
	test.EqOp(t, NameKey("queue", "a"), keys[0])
	test.EqOp(t, "make", nameOf([]*task{{Work: &work{name: "make"}}, {Work: &work{name: "make"}}}))
	test.EqOp(t, "batch.mixed", nameOf([]*task{{Work: &work{name: "make"}}, {Work: &work{name: "delete"}}}))
}

// The defaults are those that the comments of Config name.
func TestNew_HasDefaults(t *testing.T) {
	t.Parallel()
	for width, want := range map[int][]int{0: {2, 12, 4096}, 20: {20, 20, 4096}} {
		b := New(Config{Width: width}).batcher
		test.Eq(t, want, []int{b.Width, b.Widest, b.Depth})
	}
	test.EqOp(t, 7, New(Config{QueueDepth: 7}).batcher.Depth)
}

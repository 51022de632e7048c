package traffic

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"
)

// Requests that are held back end when their client leaves, and above a number at once.
func TestHoldBack_WaitsForFewAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, begun, gone := &HoldBack{For: time.Second, Max: 2}, time.Now(), make(chan struct{})
		for range 2 {
			go h.Wait(nil)
		}
		synctest.Wait()
		h.Wait(nil)
		test.EqOp(t, 0, time.Since(begun), test.Sprint("one more"))
		<-time.After(time.Second)
		synctest.Wait()
		begun = time.Now()
		h.Wait(nil)
		test.EqOp(t, time.Second, time.Since(begun), test.Sprint("when others have ended"))
		close(gone)
		h.Wait(gone)
		(*HoldBack)(nil).Wait(nil)
		new(HoldBack).Wait(nil)
		test.EqOp(t, time.Second, time.Since(begun), test.Sprint("a client that has left"))
	})
}

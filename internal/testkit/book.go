package testkit

import "sync"

// Together runs n functions at once.
func Together(n int, do func(i int)) {
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			do(i)
		})
	}
	start.Done()
	done.Wait()
}

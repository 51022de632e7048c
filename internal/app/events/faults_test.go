package events_test

import (
	"testing"

	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	reader := testkit.ReaderOfAll(s.Owner)
	s.WantErrors(
		func() error {
			return expect.Error(s.App.Events.ListEvents(t.Context(), reader, events.EventQuery{Limit: 9}))
		},
		func() error {
			return expect.Error(s.App.Events.ListEvents(t.Context(), reader, events.EventQuery{Limit: 9, Backwards: true}))
		},
	)
}

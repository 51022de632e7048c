package testkit

import (
	"context"

	"github.com/berthhq/berth/internal/app/schedules"
)

// ImportHeader is the header of an import of sessions.
const ImportHeader = "service,location,date,start,end,duration_minutes,resource,coach_email,capacity,waitlist_capacity,title,notes,status\n"

// ImportSessions imports a file of sessions, as the owner.
func (h *House) ImportSessions(file string, dryRun bool) schedules.SessionImport {
	h.T.Helper()
	report, err := h.App.Schedules.ImportSessions(context.Background(), h.Owner, []byte(file), dryRun)
	if err != nil {
		h.T.Fatal(err)
	}
	return report
}

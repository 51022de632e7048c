package notify

import (
	"testing"

	"github.com/shoenig/test"
)

// Rows, events and clients have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []Lane{"ALERT", "MAIL"}, []Lane{Alert, Mail})
	test.Eq(t, []Reason{
		"OPTED_OUT", "UNSUBSCRIBED", "BOUNCED", "UNREACHABLE", "QUIET_HOURS", "FREQUENCY_CAP", "SENDING_QUOTA",
		"NOT_BOOKED", "OFFER_CLOSED", "MOVED", "TOO_LATE", "SUPERSEDED", "PROVIDER_UNAVAILABLE", "PROVIDER_REFUSED",
		"UNREGISTERED", "MISCONFIGURED", "POSSIBLY_SENT", "TEMPLATE",
	}, []Reason{
		OptedOut, Unsubscribed, Bounced, Unreachable, QuietHoursReason, FrequencyCap, SendingQuotaReason,
		NotBooked, OfferClosed, Moved, TooLate, Superseded, ProviderUnavailable, ProviderRefused, Unregistered,
		Misconfigured, PossiblySent, BadTemplate,
	})
	test.Eq(t, []ActionKind{"SEND", "DEFER", "DROP", "CLOSE"}, []ActionKind{Send, Defer, Drop, Close})
	test.Eq(t, []AccessChangeKind{
		"ROLE_GIVEN", "ROLE_TAKEN", "DEACTIVATED", "REACTIVATED", "CONTACT_CHANGED", "TRANSFER_OFFERED",
		"TRANSFER_CONFIRMED", "TRANSFER_CANCELLED",
	}, []AccessChangeKind{
		RoleGiven, RoleTaken, Deactivated, Reactivated, ContactEdited, TransferOffered, TransferConfirmed,
		TransferCancelled,
	})
	test.Eq(t, []ReplyKind{"ACCEPT", "DECLINE", "STOP", "START", "HELP"}, []ReplyKind{Accept, Decline, Stop, Start, Help})
}

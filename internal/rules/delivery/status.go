package delivery

// Receipt is a provider's answer when it accepted a message.
type Receipt struct {
	ProviderID string // identifies the message in the provider's callbacks and console
	Segments   int    // SMS: billed segments
	Status     Status
}

// Status is the delivery status of a message.
type Status string

// The statuses. Empty means that nothing is known yet.
const (
	PossiblySent Status = "POSSIBLY_SENT" // the provider's answer was lost, so it may have the message
	Queued       Status = "QUEUED"        // the provider has it
	Sent         Status = "SENT"          // passed to the carrier, the push service or the mail server
	Failed       Status = "FAILED"        // the provider could not pass it on
	Undelivered  Status = "UNDELIVERED"   // the carrier could not deliver it
	Bounced      Status = "BOUNCED"       // the mail bounced
	Delivered    Status = "DELIVERED"
	Read         Status = "READ"
)

// progress ranks the statuses. Delivery ranks above failure, because carriers sometimes correct a report of failure.
var progress = map[Status]int{
	"": 0, PossiblySent: 1, Queued: 2, Sent: 3, Failed: 4, Undelivered: 5, Bounced: 6, Delivered: 7, Read: 8,
}

// Advance returns the status after a report: the one with the higher rank. So reports can come twice, late and in any
// order, and lead to the same status. An unknown status changes nothing.
func Advance(from, to Status) Status {
	if progress[to] > progress[from] {
		return to
	}
	return from
}

// Accepted reports whether the provider is known to have the message. It must not be sent again.
func (s Status) Accepted() bool {
	return s == Queued || s == Sent || s == Delivered || s == Read
}

// NotDelivered reports whether the message did not arrive.
func (s Status) NotDelivered() bool { return s == Failed || s == Undelivered || s == Bounced }

package event

import "github.com/berthhq/berth/internal/tenant"

// Facts are what an event says beside its data about its session, booking, subscription, waitlist entry or offer, as it
// was after the event. Those that do not apply are zero. They are stored like the fields of data, so no data has fields
// with their names.
type Facts struct {
	Status      string `json:"status,omitempty"` // of what the type names: the offer, the booking, …
	Party       int    `json:"party_size,omitempty"`
	ExternalRef string `json:"external_ref,omitempty"`
	Payment
}

// NoFacts are those of an event about nothing that has them, such as rules.
var NoFacts Facts

// NoPayment is that of an event in which nobody pays.
var NoPayment Payment

// Payment is what only those see who may read bookings.
type Payment struct {
	Status       string                `json:"payment_status,omitempty"`
	Credits      int                   `json:"credits,omitempty"` // by how many the balance changed
	Subscription tenant.SubscriptionID `json:"payer_id,omitzero"` // whose balance it is
}

// Package messageapi serves the RPCs about notifications: settings, templates, senders, preferences and the delivery
// log.
package messageapi

import "github.com/berthhq/berth/internal/app/messages"

// Messages handles the RPCs of the package.
type Messages struct {
	Service *messages.Service
}

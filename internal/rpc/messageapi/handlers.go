// Package messageapi serves the RPCs about notifications: settings, templates, senders, preferences and the delivery log.
package messageapi

import "github.com/berthhq/berth/internal/app/messages"

// Messages handles the RPCs of this area.
type Messages struct {
	Messages *messages.Service
}

package messages

import "github.com/berthhq/berth/internal/app/waitlists"

// Offers is the waitlist, as far as messages are concerned.
func (s *Service) Offers() waitlists.Offers { return s.offers }

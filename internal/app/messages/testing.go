package messages

import "github.com/berthhq/berth/internal/app/waitlists"

// Offers returns the part of the waitlist that messages need.
func (s *Service) Offers() waitlists.Offers { return s.offers }

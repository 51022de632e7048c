package engine

// ReasonData returns the data of an event with a reason.
func ReasonData(reason string) map[string]any {
	if reason == "" {
		return nil
	}
	return map[string]any{"reason": reason}
}

package batcher

import "slices"

// KeySet is a set of keys, of both kinds.
type KeySet map[Key]struct{}

// Add adds all keys of a task.
func (s KeySet) Add(l Locks) {
	for _, key := range l.Together {
		s[key] = struct{}{}
	}
	for _, key := range l.Single {
		s[key] = struct{}{}
	}
}

// HasAny reports whether a task has a key of the set.
func (s KeySet) HasAny(l Locks) bool {
	return slices.ContainsFunc(l.Together, s.has) || slices.ContainsFunc(l.Single, s.has)
}

func (s KeySet) has(key Key) bool {
	_, ok := s[key]
	return ok
}

func (s KeySet) remove(l Locks) {
	for _, key := range l.Together {
		delete(s, key)
	}
	for _, key := range l.Single {
		delete(s, key)
	}
}

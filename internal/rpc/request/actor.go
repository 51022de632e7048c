package request

import (
	"context"
	"slices"
)

const memberRead = "member.read"

// KnowsActors returns of which actors the caller may know the names: of all, for those who may read members, and
// otherwise the caller's own.
func KnowsActors(ctx context.Context) (func(actor string) bool, error) {
	caller, err := CallerWith(ctx, memberRead)
	return func(actor string) bool { return !caller.SelfOnly || actor == caller.Actor() }, err
}

// ActorNames reads the names of actors that the caller may know, all at once.
func ActorNames(ctx context.Context, actors ...string) (map[string]string, error) {
	knows, err := KnowsActors(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(actors)
	actors = slices.DeleteFunc(slices.Compact(actors), func(actor string) bool { return !knows(actor) })
	if len(actors) == 0 {
		return nil, nil
	}
	return CallFrom(ctx).ActorNames(ctx, Caller(ctx), actors)
}

package berth

import (
	"context"
	"iter"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// pageable is the request of an RPC that returns pages.
type pageable[Request any] interface {
	*Request
	proto.Message
	GetPageToken() string
}

// paged is a page.
type paged[Page any] interface {
	*Page
	GetNextPageToken() string
}

// Pages iterates over the pages of a list and fetches them on demand. The request is not changed.
// An error ends the iteration.
func Pages[Request, Page any, R pageable[Request], P paged[Page]](
	ctx context.Context, list func(context.Context, *connect.Request[Request]) (*connect.Response[Page], error), request R,
) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		next := proto.CloneOf(request)
		field := next.ProtoReflect().Descriptor().Fields().ByName("page_token")
		for {
			answer, err := list(ctx, connect.NewRequest((*Request)(next)))
			if err != nil {
				yield(nil, err)
				return
			}
			page := P(answer.Msg)
			if !yield(page, nil) || page.GetNextPageToken() == "" {
				return
			}
			next.ProtoReflect().Set(field, protoreflect.ValueOfString(page.GetNextPageToken()))
		}
	}
}

// All iterates over the items of a list. A page is fetched when its first item is needed.
//
//	list := client.Sessions.ListSessions
//	for session, err := range berth.All(ctx, list, request, (*v1.ListSessionsResponse).GetSessions) {
func All[Request, Page, Item any, R pageable[Request], P paged[Page]](
	ctx context.Context, list func(context.Context, *connect.Request[Request]) (*connect.Response[Page], error),
	request R, items func(P) []Item,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for page, err := range Pages[Request, Page, R, P](ctx, list, request) {
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range items(page) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

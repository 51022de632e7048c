package rpc

import (
	"connectrpc.com/connect"

	"github.com/berthhq/berth/internal/rpc/rpctest"
)

type (
	apiError     = rpctest.Error
	httpResponse = rpctest.Response
)

var (
	protocols    = rpctest.Protocols
	eachProtocol = rpctest.EachProtocol
	http1        = rpctest.HTTP1
	http2        = rpctest.HTTP2

	refused    = rpctest.Refused
	failsAs    = rpctest.FailsAs
	apiErrorOf = rpctest.ErrorOf
	errorOf    = rpctest.LastError
	send       = rpctest.Send
)

func as[T any](token string, message *T) *connect.Request[T] { return rpctest.As(token, message) }

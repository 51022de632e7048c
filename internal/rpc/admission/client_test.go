package admission

import (
	"connectrpc.com/connect"

	"github.com/berthhq/berth/internal/rpc/rpctest"
)

type (
	apiError = rpctest.Error
)

var (
	eachProtocol = rpctest.EachProtocol
	http1        = rpctest.HTTP1
	http2        = rpctest.HTTP2

	refused           = rpctest.Refused
	failsAs           = rpctest.FailsAs
	apiErrorOf        = rpctest.ErrorOf
	errorOf           = rpctest.LastError
	infoOf            = rpctest.InfoOf
	send              = rpctest.Send
	errorFromResponse = rpctest.ErrorIn
)

func as[T any](token string, message *T) *connect.Request[T] { return rpctest.As(token, message) }

func streamError[R any](stream *connect.ServerStreamForClient[R], err error) error {
	return rpctest.StreamError(stream, err)
}

package bench

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/lab/bench/report"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// sendFunc sends a request as one member and reads the answer into res.
type sendFunc func(ctx context.Context, procedure string, req, res proto.Message) error

// network is a client over loopback. Each member has a token of their own.
type network struct {
	members map[int]sendFunc
	turns   map[int]func(ctx context.Context, session string) error // for work other than booking
}

// networkConns is the number of connections that the callers share.
const networkConns = 8

// openNetwork connects. It first has the server verify the tokens of all members: the server remembers a verified
// token, so in the course of a day it verifies each once.
func (b *testbed) openNetwork(
	ctx context.Context, c report.Case, what work, address string,
) (_ client, closeAll func(), err error) {
	n := &network{members: make(map[int]sendFunc), turns: make(map[int]func(context.Context, string) error)}
	speak, closeAll, err := dialers[c.Via](address, min(c.Callers, networkConns))
	if err != nil {
		return nil, nil, err
	}
	first, last := b.nextUser-c.Callers, b.nextUser
	if c.Workload == zipfLoad || c.Workload == hotLoad || c.Workload == rushLoad {
		first, last = ownMembers, memberCount
	}
	for member := range last - first + 1 {
		member += first
		if member == last {
			member = staffMember
		}
		raw, err := b.tokenOf(ctx, member)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		n.members[member] = speak(member, raw)
		if what.begin != nil && member != staffMember {
			if n.turns[member], err = what.begin(ctx, n.members[member]); err != nil {
				closeAll()
				return nil, nil, err
			}
		}
	}
	return n, closeAll, nil
}

// tokenOf returns a member's token. The server has verified it.
func (b *testbed) tokenOf(ctx context.Context, member int) (string, error) {
	raw, known := b.tokens[member]
	if !known {
		var err error
		grant := token.Claims{
			Subject: fmt.Sprint(subjectPrefix, member), Tenants: []tenant.TenantID{tenantID(mainTenant)},
		}
		if raw, _, err = b.Issuer.Issue(grant, 12*time.Hour); err != nil {
			return "", err
		}
		b.tokens[member] = raw
	}
	_, err := b.Verifier.Verify(ctx, raw)
	return raw, err
}

// senderFunc returns the sendFunc of a member with a token.
type senderFunc func(member int, token string) sendFunc

// dialers open connections of a protocol.
var dialers = map[string]func(address string, conns int) (speak senderFunc, closeAll func(), err error){
	report.GRPC:      dialGRPC,
	report.NaiveGRPC: dialGRPC,
	report.Connect: func(address string, conns int) (senderFunc, func(), error) {
		return dialConnect(address, conns, connectCodec{"application/proto", proto.Marshal, proto.Unmarshal})
	},
	report.JSON: func(address string, conns int) (senderFunc, func(), error) {
		return dialConnect(address, conns, connectCodec{"application/json", protojson.Marshal, protojson.Unmarshal})
	},
}

func dialGRPC(address string, conns int) (senderFunc, func(), error) {
	var all []*grpc.ClientConn
	closeAll := func() {
		for _, conn := range all {
			_ = conn.Close()
		}
	}
	for range conns {
		conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		all = append(all, conn)
	}
	return func(member int, raw string) sendFunc {
		conn, header := all[member%len(all)], metadata.Pairs("authorization", "Bearer "+raw)
		return func(ctx context.Context, procedure string, req, res proto.Message) error {
			return conn.Invoke(metadata.NewOutgoingContext(ctx, header), procedure, req, res)
		}
	}, closeAll, nil
}

// connectCodec encodes messages.
type connectCodec struct {
	contentType string
	marshal     func(proto.Message) ([]byte, error)
	unmarshal   func([]byte, proto.Message) error
}

// dialConnect speaks Connect's protocol for unary calls, which is little more than POST. So the load generator needs
// less processor time than a full client would.
func dialConnect(address string, conns int, codec connectCodec) (senderFunc, func(), error) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	var clients []*http.Client
	for range conns {
		clients = append(clients, &http.Client{Transport: &http.Transport{Protocols: protocols}})
	}
	closeAll := func() {
		for _, client := range clients {
			client.CloseIdleConnections()
		}
	}
	return func(member int, raw string) sendFunc {
		client := clients[member%len(clients)]
		header := http.Header{
			"Content-Type": {codec.contentType}, "Connect-Protocol-Version": {"1"}, "Authorization": {"Bearer " + raw},
		}
		return func(ctx context.Context, procedure string, req, res proto.Message) error {
			body, err := codec.marshal(req)
			if err != nil {
				return err
			}
			post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+procedure, bytes.NewReader(body))
			if err != nil {
				return err
			}
			post.Header = header
			answer, err := client.Do(post)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				return err
			}
			if answer.StatusCode != http.StatusOK {
				return connectError(text)
			}
			return codec.unmarshal(text, res)
		}
	}, closeAll, nil
}

// refusedError is the error of a Connect response.
type refusedError struct {
	Reason  string `json:"-"`
	Message string `json:"message"`
	Details []struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"details"`
}

func (e *refusedError) Error() string { return e.Reason + ": " + e.Message }

func connectError(text []byte) error {
	var e refusedError
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	for _, detail := range e.Details {
		if detail.Type != "google.rpc.ErrorInfo" {
			continue
		}
		var info errdetails.ErrorInfo
		value, err := base64.RawStdEncoding.DecodeString(detail.Value)
		if err == nil && proto.Unmarshal(value, &info) == nil {
			e.Reason = info.GetReason()
		}
	}
	return &e
}

// wireReason is the contract's reason of an error from the network, or empty.
func wireReason(err error) string {
	if refused, ok := err.(*refusedError); ok { //nolint:errorlint // it is never wrapped
		return refused.Reason
	}
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// fullError is the error of the naive way over the network.
func fullError() error {
	full := connect.NewError(connect.CodeFailedPrecondition, errNaiveFull)
	if detail, err := connect.NewErrorDetail(&errdetails.ErrorInfo{Reason: string(fault.SessionFull)}); err == nil {
		full.AddDetail(detail)
	}
	return full
}

func (n *network) book(ctx context.Context, target seat) (string, error) {
	if turn := n.turns[target.member]; turn != nil {
		return "", turn(ctx, numberedID("9000", target.session))
	}
	var res v1.BookResponse
	err := n.members[target.member](ctx, berthv1connect.BookingServiceBookProcedure,
		&v1.BookRequest{SessionId: numberedID("9000", target.session)}, &res)
	return res.GetBooking().GetId(), err
}

func (n *network) cancel(ctx context.Context, member int, booking string) error {
	return n.members[member](ctx, berthv1connect.BookingServiceCancelBookingProcedure,
		&v1.CancelBookingRequest{BookingId: booking}, new(v1.CancelBookingResponse))
}

func (n *network) week(ctx context.Context, member int, week civil.Span) error {
	return n.members[member](ctx, berthv1connect.SessionServiceListSessionsProcedure,
		weekRequest(week), new(v1.ListSessionsResponse))
}

func (n *network) roster(ctx context.Context, session int) error {
	return n.members[staffMember](ctx, berthv1connect.BookingServiceGetSessionRosterProcedure,
		&v1.GetSessionRosterRequest{SessionId: numberedID("9000", session)}, new(v1.GetSessionRosterResponse))
}

func (n *network) describe(ctx context.Context, session int, text string) error {
	return n.members[staffMember](ctx, berthv1connect.SessionServiceUpdateSessionProcedure, &v1.UpdateSessionRequest{
		SessionId: numberedID("9000", session), Session: &v1.SessionInput{Description: text},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"description"}},
	}, new(v1.UpdateSessionResponse))
}

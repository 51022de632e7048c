package rpc

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// keepable are the permissions to read what everybody in a tenant sees: the schedule and the catalog, each with what it
// comes to for the caller. The caller's own cache may keep such answers. What tells of other people, of money or of
// secrets is written down by no cache.
var keepable = map[string]bool{
	"session.read": true,
	"workout.read": true,
	"catalog.read": true,
	"policy.read":  true,
	"plan.read":    true,
	"tenant.read":  true,
}

// revalidate lets the caller's own cache keep the answer to a GET, as long as it asks every time whether the answer
// still holds. If it does, the error says so, and neither encoding nor compressing nor sending it is left to do.
func (c *chain) revalidate(
	ctx context.Context, procedure string, req connect.AnyRequest, answer connect.AnyResponse,
) error {
	if req.HTTPMethod() != http.MethodGet || !c.rules[procedure].keepable {
		return nil
	}
	asked := request.CallOf(ctx)
	tag, err := entityTag(asked.Caller, answer.Any())
	if err != nil {
		return err
	}
	asked.Header.Set("Cache-Control", "private, no-cache")
	asked.Header.Add("Vary", "Authorization") // whoever shares a browser shares no answers
	asked.Header.Set("Etag", tag)
	if holds(req.Header().Values("If-None-Match"), tag) {
		return connect.NewNotModifiedError(nil)
	}
	return nil
}

// entityTag names what an answer says, and to whom: nobody else's answer has the same one, not even one that says the
// same. It is weak, because JSON, binary and compressed forms share it.
func entityTag(caller tenant.Caller, message any) (string, error) {
	m, err := protoMessage(message)
	if err != nil {
		return "", err
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("rpc: answer not tagged: %w", err)
	}
	sum := sha256.New()
	_, _ = io.WriteString(sum, caller.Tenant.String()+caller.Subject+"\x00")
	_, _ = sum.Write(body)
	const enough = 18 // of 32 bytes: nobody is to find two answers with one tag
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:enough]) + `"`, nil
}

// holds compares weakly, as RFC 9110 has it for If-None-Match.
func holds(sent []string, tag string) bool {
	for _, line := range sent {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

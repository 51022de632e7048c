package admission

// After the handler: responses that the caller has already.

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

// cacheablePermissions are the permissions to read what everyone in a tenant may see: the schedule and the catalog,
// with the values that apply to the caller. The caller's private cache may store such responses. Data about other
// people, money or secrets must not be stored by any cache.
var cacheablePermissions = map[string]bool{
	"session.read": true,
	"workout.read": true,
	"catalog.read": true,
	"policy.read":  true,
	"plan.read":    true,
	"tenant.read":  true,
}

// revalidate lets the caller's private cache store the response to a GET and revalidate it with every request. If the
// stored response is current, revalidate returns a Not Modified error, which saves encoding, compressing and sending.
func (c *Chain) revalidate(
	ctx context.Context, procedure string, req connect.AnyRequest, response connect.AnyResponse,
) error {
	if req.HTTPMethod() != http.MethodGet || !c.rules[procedure].Cacheable {
		return nil
	}
	call := request.CallFrom(ctx)
	tag, err := entityTag(call.Caller, response.Any())
	if err != nil {
		return err
	}
	call.ResponseHeader.Set("Cache-Control", "private, no-cache")
	call.ResponseHeader.Add("Vary", "Authorization") // users of one browser must not share responses
	call.ResponseHeader.Set("Etag", tag)
	if matchesTag(req.Header().Values("If-None-Match"), tag) {
		return connect.NewNotModifiedError(nil)
	}
	return nil
}

// entityTag returns the ETag of a response to a caller. Responses to other callers have other tags, even with the same
// content. The tag is weak, because JSON, binary and compressed forms share it.
func entityTag(caller tenant.Caller, message any) (string, error) {
	m, err := protoMessage(message)
	if err != nil {
		return "", err
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("rpc: entity tag: %w", err)
	}
	sum := sha256.New()
	// A hash returns no errors.
	_, _ = io.WriteString(sum, caller.Tenant.String()+caller.Subject+"\x00")
	_, _ = sum.Write(body)
	const size = 18 // of 32 bytes: enough to make collisions infeasible
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:size]) + `"`, nil
}

// matchesTag reports whether values of If-None-Match match a tag, by the weak comparison of RFC 9110.
func matchesTag(ifNoneMatch []string, tag string) bool {
	for _, line := range ifNoneMatch {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

package token

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"github.com/berthhq/berth/internal/fault"
)

// unauthenticated returns the only kind of error of this package that clients see. The message says what to do. The
// cause is for the log and contains neither tokens nor keys.
func unauthenticated(message string, cause error) error {
	err := fault.New(fault.Unauthenticated, fault.UnauthenticatedReason, "%s", message)
	if cause != nil {
		err = err.WithCause(cause)
	}
	return err
}

// ErrSeveral rejects a request with more than one token.
var ErrSeveral = unauthenticated("The request has several headers Authorization. Send one.", jwt.ErrTokenMalformed)

// IsExpired reports whether Verify rejected a token only because it has expired.
func IsExpired(err error) bool { return errors.Is(err, jwt.ErrTokenExpired) }

// errUnknownKey is the cause of errors for tokens whose issuer does not publish their key.
var errUnknownKey = errors.New("token: the key is not published")

// Reason returns why Verify rejected a token, as one of a few words for metrics.
func Reason(err error) string {
	for _, known := range []struct {
		cause error
		word  string
	}{
		{jwt.ErrTokenExpired, "expired"},
		{jwt.ErrTokenNotValidYet, "not_valid_yet"},
		{jwt.ErrTokenUsedBeforeIssued, "issued_in_future"},
		{jwt.ErrTokenRequiredClaimMissing, "claim_missing"},
		{jwt.ErrTokenInvalidAudience, "audience"},
		{jwt.ErrTokenSignatureInvalid, "signature"},
		{jwt.ErrTokenMalformed, "malformed"},
		{errUnknownKey, "key"},
	} {
		if errors.Is(err, known.cause) {
			return known.word
		}
	}
	switch f, _ := errors.AsType[*fault.Error](err); {
	case f == nil:
		return "unavailable"
	case f.Message == missing:
		return "missing"
	case f.Message == notTrusted:
		return "issuer"
	case f.Message == badAlgorithm:
		return "algorithm"
	case f.Message == malformed:
		return "malformed"
	default:
		return "claims"
	}
}

// explain converts an error of golang-jwt to one whose message says what to do.
func explain(err error) error {
	if already, ok := errors.AsType[*fault.Error](err); ok {
		return already
	}
	for _, known := range []struct {
		cause    error
		sentence string
	}{
		{jwt.ErrTokenExpired, "The token has expired. Get a new token."},
		{jwt.ErrTokenNotValidYet, "The token is not valid yet. Wait, or correct the clock that issued it."},
		{jwt.ErrTokenUsedBeforeIssued, "The token was issued in the future. Correct the clock that issued it."},
		{jwt.ErrTokenRequiredClaimMissing,
			"The token lacks a claim that it needs (iss, aud, exp). Get one from a trusted issuer."},
		{jwt.ErrTokenInvalidAudience, "The token is for another audience. Get one with the audience of this server."},
		{jwt.ErrTokenInvalidIssuer, notTrusted},
		{jwt.ErrTokenUnverifiable, badAlgorithm},
		{jwt.ErrTokenSignatureInvalid, "The token's signature is wrong. Get a new token."},
	} {
		if errors.Is(err, known.cause) {
			return unauthenticated(known.sentence, err)
		}
	}
	return unauthenticated(malformed, err)
}

const (
	missing      = "A token is needed. Send it in the header Authorization: Bearer <token>."
	malformed    = "This is not a valid JSON Web Token. Send only the token, as it was issued."
	badAlgorithm = "The token is not signed with RS256, ES256 or EdDSA. Ask the issuer to use one of them."
	notTrusted   = "The token's issuer is not trusted here. Get a token from the sign-in service of this server."
)

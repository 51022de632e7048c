package token

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"github.com/berthhq/berth/internal/fault"
)

// refuse makes the one kind of fault of this package. The sentence tells people
// what to do; the cause is for the log and holds neither tokens nor keys.
func refuse(sentence string, cause error) error {
	err := fault.New(fault.Unauthenticated, fault.Unauthorized, "%s", sentence)
	if cause != nil {
		err = err.Because(cause)
	}
	return err
}

// explain says what to do about a token that golang-jwt refused.
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
		{jwt.ErrTokenRequiredClaimMissing, "The token lacks a claim that it needs (iss, aud, exp). Get one from a trusted issuer."},
		{jwt.ErrTokenInvalidAudience, "The token is meant for somebody else. Get one with the audience of this server."},
		{jwt.ErrTokenInvalidIssuer, notTrusted},
		{jwt.ErrTokenUnverifiable, badAlgorithm},
		{jwt.ErrTokenSignatureInvalid, "The token's signature is wrong. Get a new token."},
	} {
		if errors.Is(err, known.cause) {
			return refuse(known.sentence, err)
		}
	}
	return refuse(malformed, err)
}

const (
	malformed    = "This is not a JSON Web Token that is understood here. Send the token alone, as it was issued."
	badAlgorithm = "The token is not signed by RS256, ES256 or EdDSA. Have the issuer use one of them."
	notTrusted   = "The token's issuer is not trusted here. Get a token from the sign-in service of this server."
)

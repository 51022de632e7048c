package signins

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// errEnough is SIGN_IN_CODE_INVALID for an address that has got enough codes today.
var errEnough = fmt.Errorf("enough codes: %w", signin.ErrCodeInvalid)

// SendCode sends a code to an email address, and returns what SignIn needs besides the code. That is the same for
// addresses that belong to no member, and if the address has got enough codes today: nothing is sent then. Browser is
// one that has signed in before; it can be zero. Errors: INVALID_FIELD.
func (s *Service) SendCode(ctx context.Context, address string, browser Browser) (request string, err error) {
	address, err = member.EmailAddress("email", address)
	if err != nil {
		return "", err
	}
	of := codeRequest{address: address}
	in, err := s.tenantsOf(ctx, address)
	if err != nil {
		return "", err
	}
	guesses, err := s.countGuesses(ctx)
	if err != nil {
		return "", err
	}
	code, err := newCode(signin.Digits(guesses))
	if err != nil {
		return "", err
	}
	if len(in) == 0 {
		in = append(in, tenant.New[tenant.TenantID](s.engine.Now())) // does the same for nobody
	}
	for _, id := range in {
		sent, err := s.sendCode(ctx, id, address, browser, code)
		if err != nil && !errors.Is(err, signin.ErrCodeInvalid) {
			return "", err
		}
		if err == nil {
			of.tenant, of.code = id, sent
			return s.writeRequest(of), nil
		}
		if errors.Is(err, errEnough) {
			break // no other tenant sends more
		}
	}
	of.tenant, of.code = tenant.New[tenant.TenantID](s.engine.Now()), tenant.New[tenant.CodeID](s.engine.Now())
	return s.writeRequest(of), nil
}

// tenantsOf returns the tenants that have an active member with an address.
func (s *Service) tenantsOf(ctx context.Context, address string) ([]tenant.TenantID, error) {
	var in []tenant.TenantID
	err := s.engine.ReadAsOperator(ctx, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		accountdb.ListTenantsOfAddress(&batch, accounts.AddressHashes(s.seals, address), signin.MaxTenants, &in)
		return tx.Load(ctx, &batch)
	})
	return in, err
}

// sendCode sends a code from a tenant. If no member may sign in there with the address, or it has got enough codes
// today, the error is SIGN_IN_CODE_INVALID, and the statements are the same: how long it takes tells nothing.
func (s *Service) sendCode(
	ctx context.Context, in tenant.TenantID, address string, browser Browser, text string,
) (tenant.CodeID, error) {
	t := engine.Transaction{Name: "sign_in.send_code", Quiet: true}
	var refused error
	sent, err := engine.Transact(ctx, s.engine, tenant.System(in), t,
		func(ctx context.Context, tx *engine.Tx) (tenant.CodeID, error) {
			hashes := accounts.AddressHashes(s.seals, address)
			known := browser.hash(address)
			var before int
			m, err := engine.Find(ctx, tx, nil, func(b *pg.Batch, into **member.Member) {
				accountdb.FindMemberByEmail(b, tx.Tenant, address, into)
				accountdb.CountSignInCodes(b, tx.Tenant, hashes, known, tx.Now.Add(-signin.CodeDay), &before)
			})
			if err != nil {
				return tenant.CodeID{}, err
			}
			refused = s.admit(ctx, tx, m) // also nobody, who is not active
			switch {
			case refused != nil && !errors.Is(refused, signin.ErrCodeInvalid):
				return tenant.CodeID{}, refused
			case refused == nil && before >= signin.MaxCodes:
				refused = errEnough
			}
			id := tenant.NextID[tenant.CodeID](tx.IDs)
			codes := []signin.Code{
				signin.NewCode(id, m.ID, hashes[0], known, s.codeHashes(tx.Tenant, id, text)[0], len(text), tx.Now),
			}
			s.mails.AddIf(tx, refused == nil, mails.Mail{
				PlatformMail: content.PlatformMail{
					Kind: content.MailCode, To: m.Email, Name: m.Name, Locale: m.Locale, Code: text,
				},
				About: id.UUID, ExpiresAt: codes[0].ExpiresAt,
			})
			if refused != nil {
				codes = nil
			}
			accountdb.InsertSignInCodes(tx.Tx, tx.Tenant, codes...)
			return id, nil
		})
	return sent, cmp.Or(err, refused)
}

// admit refuses a member who may not sign in with a code to their address. Those who are linked to the identity
// provider sign in there: a mail must not replace its second factor. Errors: SIGN_IN_CODE_INVALID.
func (s *Service) admit(ctx context.Context, tx *engine.Tx, m member.Member) error {
	var change *member.AddressChange
	var batch pg.Batch
	accountdb.FindOpenAddressChange(&batch, tx.Tenant, m.ID, &change)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	if !m.SignsInByCode(change, tx.Now) || s.hasProvider && m.Subject != "" {
		return signin.ErrCodeInvalid
	}
	return nil
}

// newCode returns a random code.
func newCode(digits int) (string, error) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	number, err := rand.Int(rand.Reader, limit)
	if err != nil {
		return "", fmt.Errorf("signins: new code: %w", err)
	}
	return fmt.Sprintf("%0*d", digits, number), nil
}

func (s *Service) codeHashes(in tenant.TenantID, id tenant.CodeID, text string) [][]byte {
	return s.seals.Hashes(in, "sign-in code", id.String()+" "+text)
}

// SignedIn is a browser that has just signed in.
type SignedIn struct {
	Secret        Secret
	At, ExpiresAt time.Time
	Browser       Browser // knows the address from now on
}

// SignIn signs a browser in, in all tenants in which the address of a request may sign in, and confirms the address in
// them. Errors: SIGN_IN_CODE_INVALID, which is the same for codes that are wrong, old, used, or of nobody.
func (s *Service) SignIn(ctx context.Context, request, code string, browser Browser) (SignedIn, error) {
	now := s.engine.Now()
	of, err := s.readRequest(request)
	if err != nil {
		return SignedIn{}, err
	}
	in := SignedIn{
		Secret: NewSecret(of.tenant), Browser: browser.Knowing(of.address), At: now, ExpiresAt: now.Add(signin.Idle),
	}
	guesses, err := s.countGuesses(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	code = strings.Join(strings.Fields(code), "")
	if err := s.useCode(ctx, of, code, signin.Digits(guesses), in.Secret); err != nil {
		if errors.Is(err, signin.ErrCodeInvalid) {
			err = cmp.Or(s.addGuess(ctx), err)
		}
		return SignedIn{}, err
	}
	others, err := s.tenantsOf(ctx, of.address)
	if err != nil {
		return SignedIn{}, err
	}
	for _, id := range others {
		if id == of.tenant || len(in.Secret.Tenants) == signin.MaxTenants {
			continue
		}
		t := engine.Transaction{Name: "sign_in.start"}
		err := engine.Exec(ctx, s.engine, tenant.System(id), t, func(ctx context.Context, tx *engine.Tx) error {
			m, err := engine.Find(ctx, tx, signin.ErrCodeInvalid, func(b *pg.Batch, into **member.Member) {
				accountdb.FindMemberByEmail(b, tx.Tenant, of.address, into)
			})
			if err != nil {
				return err
			}
			return s.start(ctx, tx, m, in.Secret)
		})
		switch {
		case err == nil:
			in.Secret.Tenants = append(in.Secret.Tenants, id)
		case !errors.Is(err, signin.ErrCodeInvalid):
			return SignedIn{}, err
		}
	}
	return in, nil
}

// useCode signs in to the tenant in which a code stands, if the code is right and has enough digits. A wrong guess is
// stored, so it is no error of the transaction. The statements are the same for all codes that are no good, and for
// those of nobody.
func (s *Service) useCode(ctx context.Context, of codeRequest, text string, digits int, secret Secret) error {
	t := engine.Transaction{Name: "sign_in.use_code"}
	refused, err := engine.Transact(ctx, s.engine, tenant.System(of.tenant), t,
		func(ctx context.Context, tx *engine.Tx) (error, error) {
			var m *member.Member
			c, err := engine.Find(ctx, tx, nil, func(b *pg.Batch, into **signin.Code) {
				accountdb.FindSignInCode(b, tx.Tenant, of.code, into)
				accountdb.FindMemberByEmail(b, tx.Tenant, of.address, &m)
			})
			if err != nil {
				return nil, err
			}
			right := slices.ContainsFunc(s.codeHashes(tx.Tenant, of.code, text), func(hash []byte) bool {
				return hmac.Equal(hash, c.CodeHash)
			})
			after, wrong := c.Guess(right, digits, tx.Now) // there is none: it has expired
			accountdb.UpdateSignInCode(tx.Tx, tx.Tenant, after)
			if wrong != nil || m == nil || m.ID != c.Member {
				return signin.ErrCodeInvalid, nil
			}
			err = s.start(ctx, tx, *m, secret)
			if errors.Is(err, signin.ErrCodeInvalid) {
				return err, nil
			}
			return nil, err
		})
	if err == nil {
		err = refused
	}
	return err
}

// start signs in as a member who has proven that their address is theirs.
func (s *Service) start(ctx context.Context, tx *engine.Tx, m member.Member, secret Secret) error {
	if err := s.admit(ctx, tx, m); err != nil {
		return err
	}
	tx.Caller.Member = m.ID // who has the code is the member
	s.accounts.ProveAddress(tx, m)
	Start(tx, secret, m.ID, signin.ByCode)
	return nil
}

// codeRequest is what a browser keeps between asking for a code and entering it.
type codeRequest struct {
	tenant  tenant.TenantID // in which the code stands
	code    tenant.CodeID
	address string
}

// requestPurpose keeps sealed texts for other purposes from being used as requests.
const requestPurpose = "sign-in request\n"

// writeRequest seals a request: it must not show in which tenant the address is a member, or whether it is one.
func (s *Service) writeRequest(r codeRequest) string {
	text := slices.Concat([]byte(requestPurpose), r.tenant.UUID[:], r.code.UUID[:], []byte(r.address))
	return base64.RawURLEncoding.EncodeToString(s.seals.Seal(tenant.TenantID{}, text))
}

// readRequest reads what writeRequest wrote. Errors: SIGN_IN_CODE_INVALID.
func (s *Service) readRequest(text string) (r codeRequest, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return r, signin.ErrCodeInvalid
	}
	opened, err := s.seals.Open(tenant.TenantID{}, sealed)
	if err != nil {
		return r, signin.ErrCodeInvalid
	}
	says, ok := strings.CutPrefix(string(opened), requestPurpose)
	if !ok || len(says) < len(r.tenant.UUID)+len(r.code.UUID) {
		return r, signin.ErrCodeInvalid
	}
	says = says[copy(r.tenant.UUID[:], says):]
	r.address = says[copy(r.code.UUID[:], says):]
	return r, nil
}

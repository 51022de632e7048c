package policy

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestParse_RejectsInvalidLines(t *testing.T) {
	t.Parallel()
	const head = "role, owner, Runs it.\npermission, door.open, Open the door.\n"
	for name, tt := range map[string]struct{ text, want string }{
		"a role twice":              {head + "role, owner, Again.", `role "owner" is listed twice`},
		"a permission twice":        {head + "permission, door.open, Again.", `permission "door.open" is listed twice`},
		"a grant twice":             {head + "p, owner, door.open\np, owner, door.open", `granted "door.open" twice`},
		"an unknown role":           {head + "p, admin, door.open", `role "admin"`},
		"an unknown permission":     {head + "p, owner, door.shut", `permission "door.shut"`},
		"a grant before its role":   {"permission, a.b, C.\np, owner, a.b\nrole, owner, D.", `role "owner"`},
		"another kind of line":      {head + "g, ann, owner", `"g" is neither`},
		"a line with too few parts": {head + "p, owner", "wrong number of fields"},
	} {
		test.ErrorContains(t, expect.Error(parse(tt.text)), tt.want, test.Sprint(name))
	}
	expect.OK(t)(parse(head + "# a note\n\np, owner, door.open\n"))
}

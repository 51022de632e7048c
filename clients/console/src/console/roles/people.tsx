import { MemberService, type Role } from "@berthhq/client";
import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { useText } from "../../i18n";
import { useDescribed } from "../../i18n/permissions";
import { useAll } from "../../shared/all";
import { Card, Face, Shown, State, Tag } from "../../shared/ui";
import { titleOf } from "./names";

/** Which member has which role. */
export function People({ roles }: { roles: readonly Role[] }) {
  const t = useText();
  const [chosen, setChosen] = useState("owner");
  const members = useAll(
    MemberService.method.listMembers,
    { role: chosen },
    (answer) => answer.members,
    { keep: true },
  );
  const described = useDescribed();
  const role = roles.find(({ name }) => name === chosen);
  return (
    <div className="split listed">
      <div className="card" style={{ padding: 6 }}>
        {roles.map((one) => (
          <Button
            key={one.name}
            fullWidth
            variant={one.name === chosen ? "light" : "subtle"}
            color={one.name === chosen ? "tide" : "gray"}
            justify="space-between"
            rightSection={<span className="num">{one.holders}</span>}
            aria-pressed={one.name === chosen}
            onClick={() => setChosen(one.name)}
          >
            {titleOf(one, t)}
          </Button>
        ))}
      </div>
      <Card
        bare
        title={role && titleOf(role, t)}
        extra={<Tag tone="plain">{role?.builtIn ? t.roles.builtIn : t.roles.own}</Tag>}
      >
        <p className="muted" style={{ margin: 0, padding: "12px 16px 4px", fontSize: 13 }}>
          {role && ((role.builtIn && described.roles[role.name]) || role.description)}
        </p>
        <Shown of={members}>
          {(all) =>
            all.length === 0 ? (
              <State title={t.roles.noHolder} />
            ) : (
              <table className="table">
                <tbody>
                  {all.map((member) => (
                    <tr key={member.id} className="link">
                      <td>
                        <span className="person">
                          <Face name={member.name} />
                          <Link className="cover" to={`/members/${member.id}?tab=roles`}>
                            {member.name}
                          </Link>
                        </span>
                      </td>
                      <td className="muted">{member.email}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )
          }
        </Shown>
      </Card>
    </div>
  );
}

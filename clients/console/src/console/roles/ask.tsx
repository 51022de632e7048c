import {
  AccessService,
  type CheckAccessResponse,
  type Member,
  type Permission,
  type Role,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Select } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { Shown } from "../../shared/ui";
import { MemberPicker } from "../picker";
import { grouped, titleOf } from "./names";

/** Checks whether a member has a permission, and which role gives it. */
export function Ask({
  permissions,
  roles,
}: {
  permissions: readonly Permission[];
  roles: readonly Role[];
}) {
  const t = useText();
  const [member, setMember] = useState<Member>();
  const [permission, setPermission] = useState<string | null>(null);
  const answer = useQuery(
    AccessService.method.checkAccess,
    { who: { case: "memberId", value: member?.id ?? "" }, permission: permission ?? "" },
    { enabled: Boolean(member && permission) },
  );
  const names = (list: readonly string[]) =>
    list
      .map((name) => titleOf(roles.find((role) => role.name === name) ?? { name, title: "" }, t))
      .join(", ");
  return (
    <div style={{ maxWidth: 620 }} className="stack">
      <p className="muted" style={{ margin: 0 }}>
        {t.roles.askNote}
      </p>
      <div className="form">
        <MemberPicker label={t.roles.who} value={member} onChange={setMember} />
        <Select
          label={t.roles.what}
          searchable
          required
          value={permission}
          onChange={setPermission}
          data={grouped(permissions, "").map(([group, list]) => ({
            group: t.roles.groups[group] ?? group,
            items: list.map(({ name, description }) => ({
              value: name,
              label: `${description} (${name})`,
            })),
          }))}
        />
      </div>
      {member && permission && (
        <div aria-live="polite">
          <Shown of={answer} rows={2}>
            {(said) => <Verdict said={said} name={member.name} names={names} />}
          </Shown>
        </div>
      )}
    </div>
  );
}

function Verdict({
  said,
  name,
  names,
}: {
  said: CheckAccessResponse;
  name: string;
  names: (list: readonly string[]) => string;
}) {
  const t = useText();
  return (
    <div className="card" style={{ padding: 18 }}>
      <p
        style={{
          margin: "0 0 10px",
          fontSize: 18,
          fontWeight: 620,
          color: said.allowed ? "var(--good)" : "var(--bad)",
        }}
      >
        {said.allowed ? t.roles.yes(name) : t.roles.no(name)}
      </p>
      <dl className="facts">
        {said.throughRoles.length > 0 && (
          <>
            <dt>{t.roles.through}</dt>
            <dd>{names(said.throughRoles)}</dd>
          </>
        )}
        <dt>{t.roles.wouldGive}</dt>
        <dd>{names(said.grantingRoles) || "–"}</dd>
      </dl>
      {!said.active && <p className="muted">{t.roles.notActive}</p>}
    </div>
  );
}

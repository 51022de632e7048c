import { AccessService } from "@berthhq/client";
import { useAll } from "../../shared/api/lists";
import { useMe } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { titleOf, useGives } from "./roles";

/** The roles of staff that the user may give, also the organization's own, for a select. */
export function useStaffRoles(): { value: string; label: string }[] {
  const t = useText();
  const { can } = useMe();
  const gives = useGives();
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles, {
    enabled: can("role.read"),
  });
  const known = roles.data ?? ["coach", "admin", "owner"].map((name) => ({ name, title: "" }));
  return known
    .filter(({ name }) => name !== "member" && name !== "partner" && gives(name))
    .map((role) => ({ value: role.name, label: titleOf(role, t) }));
}

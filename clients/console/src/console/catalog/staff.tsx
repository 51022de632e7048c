import { AccessService, type Member, MemberService } from "@berthhq/client";
import { Group, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconUserPlus, IconUsersGroup } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { useFields } from "../../shared/forms/form";
import { options } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { Card, State } from "../../shared/ui";
import { routes } from "../routes";
import { CallForm, DataTable, DialogButton, Dimmed, MemberLink, MemberPicker } from "../ui";
import { useSave } from "../ui/edit-form";
import { Name } from "../ui/inputs";
import { InviteBox, useInvite } from "../ui/invite";
import { RoleTags } from "../ui/roles";
import { useStaffRoles } from "../ui/staff-roles";
import { uiTexts } from "../ui/texts";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

/** People with a staff role. */
export function Staff() {
  const t = useText(catalogTexts);
  const can = useCan();
  return (
    <>
      <Group gap="10px 20px" justify="space-between" mb={12} fz="sm">
        <Dimmed>{t.catalog.staffNote}</Dimmed>
        {can("role.assign") && (
          <DialogButton modal label={t.catalog.newStaff} icon={IconUserPlus}>
            {(close) => <AddStaff onClose={close} />}
          </DialogButton>
        )}
      </Group>
      <Card bare>
        <DataTable
          rows={useCatalog().staff}
          linked
          empty={
            <State icon={IconUsersGroup} title={t.catalog.noStaff} note={t.catalog.noStaffNote} />
          }
          columns={[
            {
              title: t.fields.name,
              show: ({ id, name }) => (
                <MemberLink to={routes.member.path({ id, tab: "roles" })} name={name} />
              ),
            },
            {
              title: t.fields.roles,
              show: ({ roles }) => <RoleTags roles={roles.filter((role) => role !== "member")} />,
            },
            { title: t.fields.email, c: "dimmed", show: ({ email }) => email },
            { title: t.fields.phone, c: "dimmed", show: ({ phone }) => phone },
          ]}
        />
      </Card>
    </>
  );
}

interface AddStaffProps {
  onClose: () => void;
  /** Takes who was added. */
  onMade?: (member: Member) => void;
}

/** Gives a staff role to a member, or to a new one. */
export function AddStaff({ onClose, onMade }: AddStaffProps) {
  const t = useText(catalogTexts, uiTexts);
  const can = useCan();
  const [known, setKnown] = useState(true);
  const [member, setMember] = useState<Member>();
  const form = useFields({ name: "", email: "", role: "coach" }, t.fields);
  const { name, email, role } = form.values;
  const roles = useStaffRoles();
  const create = useCall(MemberService.method.createMember, { quiet: true });
  const assign = useSave(AccessService.method.assignRole);
  const [invited, setInvited] = useState(true);
  const invite = useInvite();
  const run = async () => {
    let who = known ? member : undefined;
    if (!known) {
      who = (await create.run({ member: { name: name.trim(), email: email.trim() } }))?.member;
      // If assigning the role fails, the member exists already and must not be created twice.
      setMember(who);
      setKnown(true);
    }
    if (!who) return false;
    await assign({ memberId: who.id, role });
    if (invited && can("member.write")) await invite([who]);
    onMade?.(who);
    return true;
  };
  return (
    <CallForm
      act={t.catalog.addStaff}
      run={run}
      disabled={known && member === undefined}
      onClose={onClose}
    >
      {can("member.write") && (
        <SegmentedControl
          fullWidth
          aria-label={t.catalog.newStaff}
          value={known ? "known" : "new"}
          onChange={(value) => setKnown(value === "known")}
          data={options({ known: t.catalog.knownPerson, new: t.catalog.newPerson })}
        />
      )}
      {known ? (
        <MemberPicker label={t.ui.member} value={member} onChange={setMember} />
      ) : (
        <>
          <Name {...form.text("name")} />
          <TextInput
            {...form.text("email")}
            description={t.catalog.emailNote}
            type="email"
            required
            maxLength={254}
          />
        </>
      )}
      <Select {...form.choice("role")} label={t.catalog.role} allowDeselect={false} data={roles} />
      {can("member.write") && (!known || member?.email) && (
        <InviteBox
          to={known ? (member?.email ?? "") : email.trim()}
          checked={invited}
          onChange={setInvited}
        />
      )}
    </CallForm>
  );
}

import { AccessService, type Member, MemberService } from "@berthhq/client";
import { Button, Modal, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconUserPlus, IconUsersGroup } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useFields, useSubmit } from "../../shared/form";
import { useCan } from "../../shared/me";
import { Face, State } from "../../shared/ui";
import type { Catalog } from "../data";
import { Name } from "../inputs";
import { RoleTags } from "../pages/members";
import { MemberPicker } from "../picker";

/** People with a staff role. */
export function Staff({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const [adding, setAdding] = useState(false);
  return (
    <>
      <div className="list-head">
        <span className="muted">{d.catalog.staffNote}</span>
        {can("role.assign") && (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => setAdding(true)}>
            {d.catalog.newStaff}
          </Button>
        )}
      </div>
      <div className="card">
        {catalog.staff.length === 0 ? (
          <State icon={IconUsersGroup} title={d.catalog.noStaff}>
            {d.catalog.noStaffNote}
          </State>
        ) : (
          <div className="scroll-x">
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">{t.fields.name}</th>
                  <th scope="col">{t.fields.roles}</th>
                  <th scope="col">{t.fields.email}</th>
                  <th scope="col">{t.fields.phone}</th>
                </tr>
              </thead>
              <tbody>
                {catalog.staff.map((member) => (
                  <tr key={member.id} className="link">
                    <td>
                      <span className="person">
                        <Face name={member.name} />
                        <Link className="cover" to={`/members/${member.id}?tab=roles`}>
                          {member.name}
                        </Link>
                      </span>
                    </td>
                    <td>
                      <RoleTags roles={member.roles.filter((role) => role !== "member")} />
                    </td>
                    <td className="muted">{member.email}</td>
                    <td className="muted num">{member.phone}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
      <Modal opened={adding} onClose={() => setAdding(false)} title={d.catalog.newStaff}>
        {adding && <AddStaff onClose={() => setAdding(false)} />}
      </Modal>
    </>
  );
}

function AddStaff({ onClose }: { onClose: () => void }) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const [known, setKnown] = useState(true);
  const [member, setMember] = useState<Member>();
  const form = useFields({ name: "", email: "", role: "coach" });
  const { name, email, role } = form.values;
  const create = useCall(MemberService.method.createMember, { quiet: true });
  const assign = useCall(AccessService.method.assignRole, { quiet: true, done: t.done.saved });
  const { error, onSubmit } = useSubmit(async () => {
    let who = known ? member : undefined;
    if (!known) {
      who = (await create.run({ member: { name: name.trim(), email: email.trim() } }))?.member;
      // If assigning the role fails, the member exists already and must not be created twice.
      setMember(who);
      setKnown(true);
    }
    if (!who) return;
    await assign.run({ memberId: who.id, role });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      {can("member.write") && (
        <SegmentedControl
          fullWidth
          aria-label={d.catalog.newStaff}
          value={known ? "known" : "new"}
          onChange={(value) => setKnown(value === "known")}
          data={[
            { value: "known", label: d.catalog.knownPerson },
            { value: "new", label: d.catalog.newPerson },
          ]}
        />
      )}
      {known ? (
        <MemberPicker label={t.session.bookFor} value={member} onChange={setMember} />
      ) : (
        <>
          <Name {...form.text("name")} />
          <TextInput
            {...form.text("email")}
            label={t.fields.email}
            description={d.catalog.emailNote}
            type="email"
            required
            maxLength={254}
          />
        </>
      )}
      <Select
        {...form.choice("role")}
        label={d.catalog.role}
        allowDeselect={false}
        data={(["coach", "admin", "owner"] as const).map((one) => ({
          value: one,
          label: t.roleNames[one],
        }))}
      />
      <Refused error={error} />
      <FormEnd
        act={d.catalog.addStaff}
        busy={create.busy || assign.busy}
        disabled={known && member === undefined}
        onCancel={onClose}
      />
    </form>
  );
}

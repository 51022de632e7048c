import { type Member, MemberService } from "@berthhq/client";
import { TagsInput, Textarea, TextInput } from "@mantine/core";
import { useMe } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { EditForm, pick, useSave } from "../../ui/edit-form";
import { Columns, Language, Name, Zone } from "../../ui/inputs";
import { accountTexts } from "../texts";

const valuesOf = (member: Member) =>
  pick(member, "name", "email", "phone", "tier", "tags", "locale", "timeZone", "notes");

export function EditMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useText(accountTexts);
  const update = useSave(MemberService.method.updateMember);
  const { id } = member;
  const theirs = useMe().member.id !== id && member.roles.includes("owner");
  return (
    <EditForm
      entity={member}
      valuesOf={valuesOf}
      names={t.fields}
      save={(values, { updateMask, etag }) => {
        const phone = values.phone.replace(/[\s()-]/g, "");
        return update({ memberId: id, member: { ...values, phone }, updateMask, etag });
      }}
      onClose={onClose}
    >
      {(form) => (
        <>
          <Name {...form.text("name")} />
          <TextInput
            {...form.text("email")}
            // Not type="email": the browser must not refuse to save a note because of an address that is stored already.
            inputMode="email"
            maxLength={254}
            disabled={theirs}
            description={theirs && t.members.ownersContacts}
          />
          <TextInput
            {...form.text("phone")}
            type="tel"
            disabled={theirs}
            description={theirs ? t.members.ownersContacts : t.common.phoneNote}
          />
          <Columns>
            <TextInput {...form.text("tier")} maxLength={50} />
            <Language {...form.choice("locale")} clearable />
          </Columns>
          <TagsInput {...form.value("tags")} maxTags={50} />
          <Zone {...form.choice("timeZone")} required={false} allowDeselect clearable />
          <Textarea
            {...form.text("notes")}
            description={t.members.notesNote}
            autosize
            minRows={3}
            maxLength={4000}
          />
        </>
      )}
    </EditForm>
  );
}

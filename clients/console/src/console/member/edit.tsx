import { type Member, MemberService } from "@berthhq/client";
import { TagsInput, Textarea, TextInput } from "@mantine/core";
import { useText } from "../../i18n";
import { useCall, useRead } from "../../shared/calls";
import { EditForm, maskOf } from "../form";
import { Language, Name, Zone } from "../inputs";

interface Values {
  name: string;
  email: string;
  phone: string;
  tier: string;
  tags: readonly string[];
  locale: string;
  timeZone: string;
  notes: string;
}

function versionOf(member: Member) {
  const { name, email, phone, tier, tags, locale, timeZone, notes } = member;
  return { values: { name, email, phone, tier, tags, locale, timeZone, notes }, etag: member.etag };
}

export function EditMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useText();
  const read = useRead();
  const update = useCall(MemberService.method.updateMember, { quiet: true, done: t.done.saved });
  return (
    <EditForm<Values>
      current={versionOf(member)}
      names={t.fields}
      reread={async () => {
        const answer = await read(MemberService.method.getMember, { memberId: member.id });
        return versionOf(answer.member ?? member);
      }}
      save={(values, changed, etag) =>
        update.run({
          member: {
            ...values,
            phone: values.phone.replace(/[\s()-]/g, ""),
            tags: [...values.tags],
            id: member.id,
            etag,
          },
          updateMask: { paths: changed.map(maskOf) },
        })
      }
      onClose={onClose}
    >
      {({ values, set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <TextInput {...form.text("email")} label={t.fields.email} type="email" maxLength={254} />
          <TextInput
            {...form.text("phone")}
            label={t.fields.phone}
            type="tel"
            description={t.members.phoneNote}
          />
          <div className="two">
            <TextInput {...form.text("tier")} label={t.fields.tier} maxLength={50} />
            <Language {...form.choice("locale")} clearable />
          </div>
          <TagsInput
            label={t.fields.tags}
            value={[...values.tags]}
            onChange={(tags) => set({ tags })}
            maxTags={50}
          />
          <Zone {...form.choice("timeZone")} required={false} allowDeselect clearable />
          <Textarea
            {...form.text("notes")}
            label={t.fields.notes}
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

import { type Member, MemberService } from "@berthhq/client";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Alert, Button, Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDo } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain } from "../../shared/errors";
import { here } from "../../shared/time";
import { Conflict } from "../conflict";

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

const zones = () => Intl.supportedValuesOf("timeZone");

export function EditMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useText();
  const { locale } = useSpeech();
  const transport = useTransport();
  const [error, setError] = useState<unknown>();
  const update = useDo(MemberService.method.updateMember, { quiet: true, done: t.done.saved });
  const editing = useEditing<Values>({
    current: versionOf(member),
    failed: setError,
    reread: async () => {
      const answer = await callUnaryMethod(transport, MemberService.method.getMember, {
        memberId: member.id,
      });
      return versionOf(answer.member ?? member);
    },
    save: (values, changed, etag) =>
      update.run({
        member: {
          ...values,
          phone: values.phone.replace(/[\s()-]/g, ""),
          tags: [...values.tags],
          id: member.id,
          etag,
        },
        updateMask: { paths: changed.map((key) => (key === "timeZone" ? "time_zone" : key)) },
      }),
  });
  const { values, set } = editing;
  const text = (key: Exclude<keyof Values, "tags">) => ({
    label: t.fields[key],
    value: values[key],
    onChange: (event: { currentTarget: { value: string } }) =>
      set({ [key]: event.currentTarget.value }),
  });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit().then((saved) => saved && onClose());
      }}
    >
      <Conflict theirs={editing.theirs} names={t.fields} onTake={editing.takeTheirs} />
      <TextInput {...text("name")} required maxLength={200} data-autofocus />
      <TextInput {...text("email")} type="email" maxLength={254} />
      <TextInput {...text("phone")} type="tel" description={t.members.phoneNote} />
      <div className="two">
        <TextInput {...text("tier")} maxLength={50} />
        <TextInput {...text("locale")} maxLength={35} placeholder="pt-PT" />
      </div>
      <TagsInput
        label={t.fields.tags}
        value={[...values.tags]}
        onChange={(tags) => set({ tags })}
        maxTags={50}
      />
      <Select
        label={t.fields.timeZone}
        searchable
        clearable
        value={values.timeZone || null}
        onChange={(zone) => set({ timeZone: zone ?? "" })}
        data={zones()}
        limit={60}
      />
      <Textarea
        {...text("notes")}
        description={t.members.notesNote}
        autosize
        minRows={3}
        maxLength={4000}
      />
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={editing.saving} disabled={editing.changed.length === 0}>
          {t.actions.save}
        </Button>
      </div>
    </form>
  );
}

import { type Member, MemberService, MemberStatus } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useText } from "../../shared/i18n";
import { uiTexts } from "./texts";

interface MemberPickerProps {
  value: Member | undefined;
  onChange: (member: Member | undefined) => void;
  label: string;
  autoFocus?: boolean;
  /** Used as a filter: may be empty, and the label is for screen readers only. */
  filter?: boolean;
  /** May be empty. */
  optional?: boolean;
}

/** Searches for a member while the user types. */
export function MemberPicker({
  value,
  onChange,
  label,
  autoFocus,
  filter,
  optional = false,
}: MemberPickerProps) {
  const t = useText(uiTexts);
  const [query, setQuery] = useState("");
  const [settled] = useDebouncedValue(query.trim(), 180);
  const found = useQuery(
    MemberService.method.listMembers,
    {
      filter: {
        query: settled === value?.name ? "" : settled,
        statuses: [MemberStatus.ACTIVE],
      },
      pageSize: 20,
    },
    { placeholderData: (before) => before },
  );
  const all = [...(found.data?.members ?? [])];
  if (value && !all.some(({ id }) => id === value.id)) all.unshift(value);
  const twice = (name: string) => all.filter((member) => member.name === name).length > 1;
  return (
    <Select
      {...(filter
        ? { "aria-label": label, placeholder: label, clearable: true, w: 190 }
        : { label, placeholder: t.ui.findMember, required: !optional })}
      searchable
      data-autofocus={autoFocus || undefined}
      openOnFocus={!autoFocus} // The dropdown would cover a form that has just opened.
      value={value?.id ?? null}
      searchValue={query}
      onSearchChange={setQuery}
      onChange={(id) => onChange(all.find((member) => member.id === id))}
      // The server has already matched.
      filter={({ options }) => options}
      data={all.map(({ id, name, email }) => ({
        value: id,
        label: twice(name) && email ? `${name} (${email})` : name,
      }))}
      nothingFoundMessage={t.ui.noMembers}
      maxDropdownHeight={260}
    />
  );
}

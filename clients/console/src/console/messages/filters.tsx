import { Select } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { useNotices } from "../../i18n/notices";
import { useCan } from "../../shared/me";
import { MemberPicker } from "../picker";
import type { Filtering } from "./data";

/** Select options by their number in the contract, with an optional one for all. */
export const choices = (names: readonly string[], any?: string) =>
  names.flatMap((label, at) => {
    const shown = at === 0 ? any : label;
    return shown ? [{ value: String(at), label: shown }] : [];
  });

export function Filters({ of, status }: { of: Filtering; status?: boolean }) {
  const n = useNotices();
  const can = useCan();
  return (
    <div className="filters">
      <DatePickerInput
        type="range"
        placeholder={n.log.when}
        aria-label={n.log.when}
        clearable
        w={210}
        value={of.days}
        valueFormat="D MMM YYYY"
        onChange={of.setDays}
        allowSingleDateInRange
      />
      {can("member.read") && (
        <MemberPicker filter label={n.anyMember} value={of.member} onChange={of.setMember} />
      )}
      <Select
        aria-label={n.topic}
        w={180}
        allowDeselect={false}
        value={String(of.topic)}
        onChange={(value) => of.set("topic", value)}
        data={choices(n.topics, n.anyTopic)}
      />
      <Select
        aria-label={n.channel}
        w={150}
        allowDeselect={false}
        value={String(of.channel)}
        onChange={(value) => of.set("channel", value)}
        data={choices(n.channels, n.anyChannel)}
      />
      {status && (
        <Select
          aria-label={n.anyStatus}
          w={150}
          allowDeselect={false}
          value={String(of.status)}
          onChange={(value) => of.set("status", value)}
          data={choices(n.statuses, n.anyStatus)}
        />
      )}
    </div>
  );
}

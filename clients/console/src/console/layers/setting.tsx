import { PolicyLevel } from "@berthhq/client";
import { ActionIcon } from "@mantine/core";
import { IconArrowBackUp, IconPencil } from "@tabler/icons-react";
import { useId } from "react";
import { useText } from "../../i18n";
import { Tag } from "../../shared/ui";
import type { Catalog } from "../data";
import type { Layer, Settings } from "./editor";
import { readField } from "./kind";

/** A setting: its name, value and source. */
export function Setting({
  settings: { kinds, texts },
  layers,
  level,
  catalog,
  editable,
  field,
  own,
  changed,
  wrong,
  onChange,
}: {
  settings: Settings;
  layers: readonly Layer[];
  level: PolicyLevel;
  catalog: Catalog;
  editable: boolean;
  field: string;
  /** undefined if inherited. */
  own: unknown;
  changed: boolean;
  /** The error text. */
  wrong: string | undefined;
  onChange: (value: unknown) => void;
}) {
  const t = useText();
  const told = useId();
  const kind = kinds[field];
  const [label = field, note = ""] = texts[field] ?? [];
  // The value that would apply without this level, and its source.
  const from = layers.findLast(
    (one) => one.level < level && readField(one.set, field, kinds) !== undefined,
  );
  const inherited = from && readField(from.set, field, kinds);
  const show = (value: unknown) => (value === undefined ? "–" : (kind?.show(value, t) ?? "–"));
  const whose =
    catalog.location(from?.targetId ?? "")?.name ??
    catalog.service(from?.targetId ?? "")?.name ??
    t.policies.levels[from?.level ?? PolicyLevel.DEFAULT];
  return (
    <div className="policy-row" data-setting={field}>
      <div style={{ minWidth: 0 }}>
        <strong style={{ fontWeight: 560 }}>{label}</strong>
        <div className="muted" style={{ fontSize: 12 }}>
          {note}
        </div>
      </div>
      <div className="policy-value" {...(wrong && { role: "group", "aria-describedby": told })}>
        {own === undefined ? (
          <span className="policy-text">{show(inherited)}</span>
        ) : editable ? (
          kind?.input({ label, value: own, wrong: wrong !== undefined, onChange })
        ) : (
          <strong className="policy-text">{show(own)}</strong>
        )}
        {wrong && (
          <p id={told} role="alert" className="policy-wrong">
            {wrong}
          </p>
        )}
      </div>
      <div className="policy-from">
        {own === undefined ? (
          <Tag tone={changed ? "warn" : "plain"}>{whose}</Tag>
        ) : (
          <Tag tone={changed ? "warn" : "accent"}>{t.policies.setHere}</Tag>
        )}
        {editable &&
          (own === undefined ? (
            <ActionIcon
              aria-label={`${t.policies.override}: ${label}`}
              title={t.policies.override}
              onClick={() => onChange(inherited ?? kind?.first)}
            >
              <IconPencil size={16} />
            </ActionIcon>
          ) : (
            <ActionIcon
              aria-label={`${t.policies.inherit}: ${label}`}
              title={`${t.policies.inherit}: ${show(inherited)}`}
              onClick={() => onChange(undefined)}
            >
              <IconArrowBackUp size={16} />
            </ActionIcon>
          ))}
      </div>
    </div>
  );
}

import "./layers.css";
import { PolicyLevel } from "@berthhq/client";
import { ActionIcon } from "@mantine/core";
import { IconArrowBackUp, IconPencil } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { useText } from "../../i18n";
import { useEditing } from "../../shared/editing";
import { Refused } from "../../shared/form";
import { Card, Tag } from "../../shared/ui";
import { Conflict } from "../conflict";
import type { Catalog } from "../data";
import { maskOf } from "../form";
import { SaveBar } from "../save-bar";
import { type Kinds, readAll, readField, type Values } from "./kind";

/*
 * Settings that are inherited, level by level: the built-in ones, the organization's, the location's, the service's.
 * A level sets some of them and leaves the others alone.
 */

export interface Settings {
  readonly kinds: Kinds;
  readonly groups: readonly (readonly [string, readonly string[]])[];
  /** Name and explanation. */
  readonly texts: Readonly<Record<string, readonly [string, string]>>;
}

export interface Layer {
  readonly level: PolicyLevel;
  readonly targetId: string;
  readonly etag: string;
  readonly set: object | undefined;
}

interface Props {
  settings: Settings;
  /** From the lowest to the one that is edited, or beyond. */
  layers: readonly Layer[];
  level: PolicyLevel;
  catalog: Catalog;
  editable: boolean;
  save: (values: Values, paths: string[], etag: string) => Promise<unknown>;
  reread: () => Promise<readonly Layer[]>;
  /** What is shown beside the draft. */
  children?: (values: Values, paths: string[]) => ReactNode;
}

export function LayerEditor(props: Props) {
  const { settings, layers, level, save, reread, children } = props;
  const t = useText();
  const [error, setError] = useState<unknown>();
  const { kinds, groups, texts } = settings;
  const version = (of: readonly Layer[]) => {
    const layer = of.find((one) => one.level === level);
    return { values: readAll(layer?.set, kinds), etag: layer?.etag ?? "" };
  };
  const editing = useEditing<Values>({
    current: version(layers),
    failed: setError,
    reread: async () => version(await reread()),
    save: (values, changed, etag) => save(values, changed.map(maskOf), etag),
  });
  const { values, set, changed } = editing;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit();
      }}
    >
      <Conflict
        theirs={editing.theirs}
        names={Object.fromEntries(
          Object.keys(kinds).map((field) => [field, texts[field]?.[0] ?? field]),
        )}
        show={(field, value) =>
          value === undefined ? "–" : (kinds[field]?.show(value, t) ?? String(value))
        }
        onTake={editing.takeTheirs}
      />
      {groups.map(([group, fields]) => (
        <Card key={group} bare title={group}>
          {fields.map((field) => (
            <Setting
              key={field}
              {...props}
              field={field}
              own={values[field]}
              changed={changed.includes(field)}
              onChange={(value) => set({ [field]: value })}
            />
          ))}
        </Card>
      ))}
      <Refused error={error} />
      {changed.length > 0 && children?.(values, changed.map(maskOf))}
      <SaveBar editing={editing} />
    </form>
  );
}

/** One setting: what it is, what it is set to, and by whom. */
function Setting({
  settings: { kinds, texts },
  layers,
  level,
  catalog,
  editable,
  field,
  own,
  changed,
  onChange,
}: Props & {
  field: string;
  /** undefined: inherited. */
  own: unknown;
  changed: boolean;
  onChange: (value: unknown) => void;
}) {
  const t = useText();
  const kind = kinds[field];
  const [label = field, note = ""] = texts[field] ?? [];
  // What would hold if this level set nothing, and whose it is.
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
    <div className="policy-row">
      <div style={{ minWidth: 0 }}>
        <strong style={{ fontWeight: 560 }}>{label}</strong>
        <div className="muted" style={{ fontSize: 12 }}>
          {note}
        </div>
      </div>
      <div className="policy-value">
        {own === undefined ? (
          <span>{show(inherited)}</span>
        ) : editable ? (
          kind?.input({ label, value: own, onChange })
        ) : (
          <strong>{show(own)}</strong>
        )}
      </div>
      <div className="policy-from">
        {own === undefined ? (
          <Tag tone="plain">{whose}</Tag>
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

import "./layers.css";
import { ErrorReason, type PolicyLevel } from "@berthhq/client";
import { Button, TextInput } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useText } from "../../i18n";
import { ask } from "../../shared/ask";
import { useEditing } from "../../shared/editing";
import { reasonOf } from "../../shared/errors";
import { Refused } from "../../shared/form";
import { Card } from "../../shared/ui";
import { Conflict } from "../conflict";
import type { Catalog } from "../data";
import { maskOf } from "../form";
import { SaveBar } from "../save-bar";
import { type Kinds, readAll, type Values } from "./kind";
import { fieldOf, tellWrong } from "./refusal";
import { Setting } from "./setting";

/*
 * Settings that are inherited by level: defaults, organization, location, service. Each level
 * overrides some of them.
 */

export interface Settings {
  readonly kinds: Kinds;
  readonly groups: readonly (readonly [string, readonly string[]])[];
  /** Name and description. */
  readonly texts: Readonly<Record<string, readonly [string, string]>>;
  /** Error texts of settings whose value is valid on its own but conflicts with others. */
  readonly unfit?: Readonly<Record<string, string>>;
}

/** The settings of each group, in the order of the page. */
export const settingsIn = (
  groups: readonly (readonly [string, Kinds])[],
): Pick<Settings, "kinds" | "groups"> => ({
  kinds: Object.assign({}, ...groups.map(([, kinds]) => kinds)),
  groups: groups.map(([group, kinds]) => [group, Object.keys(kinds)]),
});

export interface Layer {
  readonly level: PolicyLevel;
  readonly targetId: string;
  readonly etag: string;
  readonly set: object | undefined;
}

interface Props {
  settings: Settings;
  /** From the lowest level to the edited one, or beyond. */
  layers: readonly Layer[];
  level: PolicyLevel;
  catalog: Catalog;
  editable: boolean;
  save: (values: Values, paths: string[], etag: string, reason: string) => Promise<unknown>;
  /** Removes all overrides of the level. If given, edits are stored with a reason. */
  reset?: (etag: string, reason: string) => Promise<unknown>;
  reread: () => Promise<readonly Layer[]>;
  /** Shown below the draft. Can report that the draft is invalid. */
  children?: (draft: Draft) => ReactNode;
}

export interface Draft {
  readonly values: Values;
  readonly paths: readonly string[];
  /** Whether all values pass the checks in the browser. */
  readonly sound: boolean;
  readonly refuse: (error: unknown) => void;
}

export function LayerEditor(props: Props) {
  const { settings, layers, level, catalog, editable, save, reset, reread, children } = props;
  const t = useText();
  const [error, setError] = useState<unknown>();
  const [reason, setReason] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const { kinds, groups, texts } = settings;
  const version = (of: readonly Layer[]) => {
    const layer = of.find((one) => one.level === level);
    return { values: readAll(layer?.set, kinds), etag: layer?.etag ?? "" };
  };
  const current = version(layers);
  const editing = useEditing<Values>({
    current,
    failed: setError,
    reread: async () => version(await reread()),
    save: (values, changed, etag) => save(values, changed.map(maskOf), etag, reason.trim()),
  });
  const { values, set, changed } = editing;
  const refused = fieldOf(error, kinds);
  const wrong = (field: string) =>
    (field === refused && tellWrong(error, settings.unfit?.[field] ?? t.policies.unfit, t)) ||
    (values[field] !== undefined && kinds[field]?.wrong?.(values[field], t)) ||
    undefined;
  const firstWrong = (but?: string) =>
    groups.flatMap(([, fields]) => fields).find((field) => field !== but && wrong(field));
  const show = (field: string) =>
    form.current
      ?.querySelector<HTMLElement>(`[data-setting="${field}"] :is(input, textarea, button)`)
      ?.focus();
  // The refused setting may be far from the save button: focus it.
  const sent = useRef(false);
  useEffect(() => {
    if (refused && sent.current) show(refused);
    if (error) sent.current = false;
  });

  const takeBackDraft = () => {
    editing.reset();
    setError(undefined);
    setReason("");
  };
  const own = Object.values(current.values).filter((value) => value !== undefined).length;
  const takeBack = async () => {
    const answer = await ask({
      title: t.policies.resetTitle,
      body: t.policies.resetBody(own),
      yes: t.policies.resetAll,
      reason: t.fields.reason,
      danger: true,
    });
    if (answer) await reset?.(current.etag, answer.reason.trim());
  };
  return (
    <form
      ref={form}
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        // Only the server knows whether the refused value is still invalid.
        const first = firstWrong(refused);
        if (first) return show(first);
        sent.current = true;
        void editing.submit().then((saved) => saved && setReason(""));
      }}
    >
      <Conflict
        theirs={editing.theirs}
        names={Object.fromEntries(
          Object.keys(kinds).map((field) => [field, texts[field]?.[0] ?? field]),
        )}
        show={(field, value) =>
          value === undefined ? t.policies.inherited : (kinds[field]?.show(value, t) ?? `${value}`)
        }
        onTake={editing.takeTheirs}
      />
      {editable && reset && own > 0 && changed.length === 0 && (
        <div className="policy-own">
          <span className="muted">{t.policies.ownSettings(own)}</span>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconArrowBackUp size={15} />}
            onClick={() => void takeBack()}
          >
            {t.policies.resetAll}
          </Button>
        </div>
      )}
      {groups.map(([group, fields]) => (
        <Card key={group} bare title={group}>
          {fields.map((field) => (
            <Setting
              key={field}
              settings={settings}
              layers={layers}
              level={level}
              catalog={catalog}
              editable={editable}
              field={field}
              own={values[field]}
              changed={changed.includes(field)}
              wrong={wrong(field)}
              onChange={(value) => {
                // Editing a setting clears its own error, and any error about conflicting settings.
                if (field === refused || reasonOf(error) === ErrorReason.INVALID_FIELD)
                  setError(undefined);
                set({ [field]: value });
              }}
            />
          ))}
        </Card>
      ))}
      {!refused && <Refused error={error} />}
      {changed.length > 0 &&
        children?.({
          values,
          paths: changed.map(maskOf),
          sound: firstWrong() === undefined,
          refuse: setError,
        })}
      <SaveBar editing={{ ...editing, reset: takeBackDraft }}>
        {reset && (
          <TextInput
            size="sm"
            className="why"
            aria-label={t.fields.reason}
            placeholder={t.policies.whyChanged}
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
      </SaveBar>
    </form>
  );
}

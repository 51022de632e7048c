import { berthError, ErrorReason } from "@berthhq/client";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { reasonOf } from "../../shared/api/errors";
import { ask } from "../../shared/dialogs/question";
import { changes, useEditing } from "../../shared/forms/editing";
import { FormError } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { Card } from "../../shared/ui";
import { Conflict, Dimmed, SaveBar } from "../ui";
import { maskOf } from "../ui/edit-form";
import { uiTexts } from "../ui/texts";
import { type Kinds, readAll, type Values } from "./kind";
import { useLevel } from "./level";
import { Setting } from "./setting";
import type { Layer, Settings } from "./settings";
import { type SettingTexts, settingTexts } from "./texts";

interface Mask {
  paths: string[];
}

interface Props {
  settings: Settings;
  /** From the lowest level to the one in the URL, or beyond. */
  layers: readonly Layer[];
  editable: boolean;
  save: (values: Values, updateMask: Mask, etag: string, reason: string) => Promise<unknown>;
  /** Removes all overrides of the level. If given, edits are stored with a reason. */
  reset?: (etag: string, reason: string) => Promise<unknown>;
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
  const { settings, layers, editable, save, reset, children } = props;
  const t = useText(settingTexts, uiTexts);
  const { level } = useLevel();
  const [reason, setReason] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const { kinds, groups, texts } = settings;
  const layer = layers.find((one) => one.level === level);
  const valuesOf = (of: Layer | undefined) => readAll(of?.set, kinds);
  const editing = useEditing<Values, Layer | undefined>({
    entity: layer,
    valuesOf,
    save: (values, changed, etag) =>
      save(values, { paths: changed.map(maskOf) }, etag, reason.trim()),
    onSaved: () => setReason(""),
  });
  const { values, set, changed, error, setError } = editing;
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

  const own = Object.values(valuesOf(layer)).filter((value) => value !== undefined).length;
  // A layer that was just saved is outdated until it is loaded again, and so is its etag.
  const current = changes(valuesOf(layer), values).length === 0;
  const takeBack = async () => {
    const answer = await ask({
      title: t.policies.resetTitle,
      body: t.policies.resetBody(own),
      yes: t.policies.resetAll,
      reason: t.fields.reason,
      danger: true,
    });
    if (answer) await reset?.(layer?.etag ?? "", answer.reason.trim());
  };
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        // Only the server knows whether the refused value is still invalid.
        const first = firstWrong(refused);
        sent.current = !first;
        if (!first) return void editing.onSubmit(event);
        event.preventDefault();
        setError(undefined);
        show(first);
      }}
    >
      <Stack gap={18}>
        <Conflict
          theirs={editing.theirs}
          names={Object.fromEntries(Object.keys(kinds).map((field) => [field, texts[field]?.[0]]))}
          show={(field, value) =>
            value === undefined
              ? t.policies.inherited
              : (kinds[field]?.show(value, t) ?? `${value}`)
          }
          onTake={editing.takeTheirs}
        />
        {editable && reset && own > 0 && current && (
          <Group justify="space-between" gap="6px 16px" fz="sm">
            <Dimmed>{t.policies.ownSettings(own)}</Dimmed>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconArrowBackUp size={15} />}
              onClick={() => void takeBack()}
            >
              {t.policies.resetAll}
            </Button>
          </Group>
        )}
        {groups.map(([group, fields]) => (
          <Card key={group} bare title={group}>
            {fields.map((field) => (
              <Setting
                key={field}
                settings={settings}
                layers={layers}
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
        {!refused && <FormError error={error} />}
        {changed.length > 0 &&
          children?.({
            values,
            paths: changed.map(maskOf),
            sound: firstWrong() === undefined,
            refuse: setError,
          })}
        <SaveBar
          editing={{
            ...editing,
            reset: () => {
              editing.reset();
              setError(undefined);
              setReason("");
            },
          }}
        >
          {reset && (
            <TextInput
              aria-label={t.fields.reason}
              placeholder={t.policies.whyChanged}
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
          )}
        </SaveBar>
      </Stack>
    </form>
  );
}

/**
 * The setting that an error is about, if it is one of these: `rules.tier_bonuses.bonuses[0]` is
 * tierBonuses.
 */
function fieldOf(thrown: unknown, kinds: Kinds): string | undefined {
  if (thrown === undefined) return undefined;
  const { reason, metadata, violations } = berthError(thrown);
  if (reason !== ErrorReason.INVALID_FIELD && reason !== ErrorReason.RULES_INVALID)
    return undefined;
  const path = metadata.field ?? violations[0]?.field ?? "";
  return path
    .split(/[.[]/)
    .map((name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .find((name) => Object.hasOwn(kinds, name));
}

/**
 * The error text of a setting. Compiler messages about expressions are in English, so their
 * position is shown, too.
 */
function tellWrong(thrown: unknown, unfit: string, t: SettingTexts): string {
  const { reason, metadata, message } = berthError(thrown);
  if (reason !== ErrorReason.RULES_INVALID) return unfit;
  const { line = "1", column = "1" } = metadata;
  return t.policies.wrongAt(line, column, message.replace(/^Line \d+, column \d+: /, ""));
}

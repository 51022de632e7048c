import { SettingLevel } from "@berthhq/client";
import { ActionIcon, Box } from "@mantine/core";
import { IconArrowBackUp, IconPencil } from "@tabler/icons-react";
import { useId } from "react";
import { useText } from "../../shared/i18n";
import { Tag } from "../../shared/ui";
import { Note, Strong } from "../ui";
import text from "../ui/text.module.css";
import { uiTexts } from "../ui/texts";
import { readField } from "./kind";
import { useLevel, useLevelName } from "./level";
import { Row } from "./row";
import classes from "./setting.module.css";
import type { Layer, Settings } from "./settings";
import { settingTexts } from "./texts";

/** A setting: its name, value and source. */
export function Setting({
  settings: { kinds, texts },
  layers,
  editable,
  field,
  own,
  changed,
  wrong,
  onChange,
}: {
  settings: Settings;
  layers: readonly Layer[];
  editable: boolean;
  field: string;
  /** undefined if inherited. */
  own: unknown;
  changed: boolean;
  /** The error text. */
  wrong: string | undefined;
  onChange: (value: unknown) => void;
}) {
  const t = useText(settingTexts, uiTexts);
  const { level } = useLevel();
  const nameOf = useLevelName();
  const told = useId();
  const kind = kinds[field];
  const [label = field, note = ""] = texts[field] ?? [];
  // The value that would apply without this level, and its source.
  const from = layers.findLast(
    (one) => one.level < level && readField(one.set, field, kinds) !== undefined,
  );
  const inherited = from && readField(from.set, field, kinds);
  const show = (value: unknown) => (value === undefined ? "–" : (kind?.show(value, t) ?? "–"));
  return (
    <Row
      data-setting={field}
      name={
        <Box miw={0}>
          <Strong>{label}</Strong>
          <Note>{note}</Note>
        </Box>
      }
      actions={
        <>
          <Tag tone={changed ? "warn" : own === undefined ? "plain" : "accent"}>
            {own === undefined
              ? nameOf(from?.level ?? SettingLevel.DEFAULT, from?.targetId)
              : t.policies.setHere}
          </Tag>
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
        </>
      }
    >
      <div className={text.num} {...(wrong && { role: "group", "aria-describedby": told })}>
        {own === undefined ? (
          <span className={classes.text}>{show(inherited)}</span>
        ) : editable ? (
          kind?.input({ label, value: own, wrong: wrong !== undefined, onChange })
        ) : (
          <strong className={classes.text}>{show(own)}</strong>
        )}
        {wrong && (
          <p id={told} role="alert" className={classes.wrong}>
            {wrong}
          </p>
        )}
      </div>
    </Row>
  );
}

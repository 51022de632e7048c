import { Alert, Button } from "@mantine/core";
import { IconUsers } from "@tabler/icons-react";
import { useText } from "../i18n";

/** Shown when another user saved first: lists the fields that they changed. */
export function Conflict<V extends object>({
  theirs,
  names,
  show = (_, value) => String(value),
  onTake,
}: {
  theirs: Partial<V> | undefined;
  names: Partial<Record<keyof V, string>>;
  show?: (key: keyof V, value: unknown) => string;
  onTake: () => void;
}) {
  const t = useText();
  if (!theirs) return null;
  const keys = Object.keys(theirs) as (keyof V)[];
  return (
    <Alert color="yellow" icon={<IconUsers size={18} />} title={t.conflict.title} role="alert">
      {keys.length === 0 ? (
        <p style={{ margin: "0 0 10px" }}>{t.conflict.nothing}</p>
      ) : (
        <dl className="facts" style={{ margin: "4px 0 10px" }}>
          {keys.map((key) => (
            <div key={String(key)} style={{ display: "contents" }}>
              <dt>{names[key] ?? String(key)}</dt>
              <dd>{show(key, theirs[key]) || "–"}</dd>
            </div>
          ))}
        </dl>
      )}
      <p style={{ margin: "0 0 10px" }}>{t.conflict.note}</p>
      {keys.length > 0 && (
        <Button size="compact-sm" variant="default" onClick={onTake}>
          {t.conflict.take}
        </Button>
      )}
    </Alert>
  );
}

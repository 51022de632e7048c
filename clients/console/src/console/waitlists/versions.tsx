import { type WaitlistRulesVersion, WaitlistService } from "@berthhq/client";
import { usePages } from "../../shared/api/pages";
import { changes } from "../../shared/forms/editing";
import { useText } from "../../shared/i18n";
import { State, Tag } from "../../shared/ui";
import { readAll } from "../settings/kind";
import { useLevelName } from "../settings/level";
import { settingTexts } from "../settings/texts";
import { List, quiet, TenantTime } from "../ui";
import { uiTexts } from "../ui/texts";
import { useRulesSettings } from "./settings";
import { waitlistTexts } from "./texts";
import classes from "./versions.module.css";

/** The history of the rules: who changed what, when and why. */
export function Versions() {
  const t = useText(settingTexts, uiTexts, waitlistTexts);
  const nameOf = useLevelName();
  const versions = usePages(
    WaitlistService.method.listWaitlistRulesVersions,
    { pageSize: 100 },
    (page) => page.versions,
  );
  return (
    <List
      query={versions}
      id="version"
      region={t.rules.versions}
      className={classes.versions}
      empty={<State title={t.rules.noVersions} />}
      columns={[
        { title: t.rules.version, show: ({ version }) => version },
        {
          title: t.ui.when,
          ...quiet,
          show: ({ createTime }) => <TenantTime at={createTime} as="full" />,
        },
        { title: t.ui.who, show: ({ actor }) => actor?.name },
        {
          title: t.policies.level,
          show: ({ level, targetId }) => <Tag tone="plain">{nameOf(level, targetId)}</Tag>,
        },
        {
          title: t.rules.changes,
          show: (version, at) =>
            version.wasReset ? (
              t.rules.reset
            ) : (
              <Changed
                to={version}
                earlier={versions.data?.slice(at + 1) ?? []}
                whole={!versions.hasNextPage}
              />
            ),
        },
        { title: t.fields.reason, show: ({ reason }) => reason },
      ]}
    />
  );
}

interface ChangedProps {
  to: WaitlistRulesVersion;
  /** Newest first. */
  earlier: readonly WaitlistRulesVersion[];
  /** There are no earlier versions. */
  whole: boolean;
}

/** What a version changed, compared with the one before. */
function Changed({ to, earlier, whole }: ChangedProps) {
  const t = useText(settingTexts, uiTexts, waitlistTexts);
  const { kinds, texts } = useRulesSettings();
  const from = earlier.find(
    ({ level, targetId }) => level === to.level && targetId === to.targetId,
  );
  if (!from && !whole) return "…";
  const [before, after] = [readAll(from?.rules, kinds), readAll(to.rules, kinds)];
  return (
    <ul className={classes.changes}>
      {changes(before, after).map((field) => (
        <li key={field}>
          {texts[field]?.[0] ?? field}:{" "}
          {before[field] !== undefined && `${kinds[field]?.show(before[field], t)} → `}
          <strong>
            {after[field] === undefined
              ? t.rules.inheritedAgain
              : kinds[field]?.show(after[field], t)}
          </strong>
        </li>
      ))}
    </ul>
  );
}

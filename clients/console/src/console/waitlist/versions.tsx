import "./waitlist.css";
import { type WaitlistRulesVersion, WaitlistService } from "@berthhq/client";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useText } from "../../i18n";
import { changes } from "../../shared/editing";
import { useMe } from "../../shared/me";
import { More, paged, Shown, State, Tag, Time } from "../../shared/ui";
import type { Catalog } from "../data";
import { readAll } from "../layers/kind";
import { useRulesSettings } from "./settings";

/** The history of the rules: who changed what, when and why. */
export function Versions({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { tenant } = useMe();
  const versions = useInfiniteQuery(
    WaitlistService.method.listRulesVersions,
    { pageSize: 100, pageToken: "" },
    paged,
  );
  return (
    <>
      <div className="card">
        <Shown of={versions}>
          {({ pages }) => {
            const all = pages.flatMap((page) => page.versions);
            const whole = !versions.hasNextPage;
            return all.length === 0 ? (
              <State title={t.rules.noVersions} />
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content
              <section className="scroll-x" tabIndex={0} aria-label={t.rules.versions}>
                <table className="table versions">
                  <thead>
                    <tr>
                      <th scope="col">{t.rules.version}</th>
                      <th scope="col">{t.audit.when}</th>
                      <th scope="col">{t.audit.who}</th>
                      <th scope="col">{t.policies.level}</th>
                      <th scope="col">{t.rules.changes}</th>
                      <th scope="col">{t.fields.reason}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {all.map((version, at) => (
                      <tr key={version.version}>
                        <td className="num">{version.version}</td>
                        <td className="muted" style={{ whiteSpace: "nowrap" }}>
                          <Time at={version.createTime} zone={tenant.timeZone} as="full" />
                        </td>
                        <td>{version.authorName}</td>
                        <td>
                          <Tag tone="plain">
                            {catalog.location(version.targetId)?.name ??
                              catalog.service(version.targetId)?.name ??
                              t.policies.levels[version.level]}
                          </Tag>
                        </td>
                        <td>
                          {version.reset ? (
                            t.rules.reset
                          ) : (
                            <Changed to={version} earlier={all.slice(at + 1)} whole={whole} />
                          )}
                        </td>
                        <td>{version.reason}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </section>
            );
          }}
        </Shown>
      </div>
      <More of={versions} />
    </>
  );
}

/** What a version changed, compared with the one before. */
function Changed({
  to,
  earlier,
  whole,
}: {
  to: WaitlistRulesVersion;
  /** Newest first. */
  earlier: readonly WaitlistRulesVersion[];
  /** There are no earlier versions. */
  whole: boolean;
}) {
  const t = useText();
  const { kinds, texts } = useRulesSettings();
  const from = earlier.find(
    ({ level, targetId }) => level === to.level && targetId === to.targetId,
  );
  if (!from && !whole) return "…";
  const [before, after] = [readAll(from?.rules, kinds), readAll(to.rules, kinds)];
  return (
    <ul className="changes">
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

import { WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useText } from "../../i18n";
import { useMe } from "../../shared/me";
import { Shown, State, Tag, Time } from "../../shared/ui";
import type { Catalog } from "../data";

/** Who changed the rules, when and why. */
export function Versions({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { tenant } = useMe();
  const versions = useQuery(WaitlistService.method.listRulesVersions, { pageSize: 100 });
  return (
    <div className="card">
      <Shown of={versions}>
        {({ versions: all }) =>
          all.length === 0 ? (
            <State title={t.rules.noVersions} />
          ) : (
            <div className="scroll-x">
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">{t.rules.version}</th>
                    <th scope="col">{t.audit.when}</th>
                    <th scope="col">{t.audit.who}</th>
                    <th scope="col">{t.policies.level}</th>
                    <th scope="col">{t.fields.reason}</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((version) => (
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
                      <td>{version.reset ? t.rules.reset : version.reason}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Shown>
    </div>
  );
}

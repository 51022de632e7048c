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
            <table className="table">
              <tbody>
                {all.map((version) => (
                  <tr key={version.version}>
                    <td className="num">#{version.version}</td>
                    <td className="muted">
                      <Time at={version.createTime} zone={tenant.timeZone} as="dateTime" />
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
          )
        }
      </Shown>
    </div>
  );
}

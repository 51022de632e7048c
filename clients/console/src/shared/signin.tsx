import { Alert, Button, Skeleton } from "@mantine/core";
import { IconArrowRight, IconLogin2 } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useText } from "../i18n";
import type { DemoTenant } from "./auth";
import { useAuth } from "./me";
import { Card, Mark } from "./ui";

/** The sign-in page. It is shown at any URL and returns there. */
export function SignIn({ failure }: { failure?: string | undefined }) {
  const auth = useAuth();
  const t = useText();
  const [failed, setFailed] = useState(failure !== undefined);
  const { development, issuer } = auth.config;
  const forMembers = auth.base !== "/";
  return (
    <div className="sign-in">
      <div className="hero">
        <span className="wordmark">
          <Mark size={28} /> Berth
        </span>
        <div>
          <h1>{forMembers ? t.signIn.memberTitle : t.signIn.title}</h1>
          <p>{forMembers ? t.signIn.memberNote : t.signIn.note}</p>
        </div>
      </div>
      <main className="choices">
        {failed && <Alert color="red">{t.signIn.failed}</Alert>}
        {issuer && (
          <Button
            size="md"
            leftSection={<IconLogin2 size={18} />}
            onClick={() => auth.signIn().catch(() => setFailed(true))}
          >
            {t.signIn.action}
          </Button>
        )}
        {development && <DemoPeople onFail={() => setFailed(true)} />}
        {!issuer && !development && (
          <Alert color="yellow" title={t.signIn.notSetUp}>
            {t.signIn.notSetUpNote}
          </Alert>
        )}
      </main>
    </div>
  );
}

function DemoPeople({ onFail }: { onFail: () => void }) {
  const auth = useAuth();
  const t = useText();
  const [tenants, setTenants] = useState<readonly DemoTenant[]>();
  const [chosen, setChosen] = useState("");
  useEffect(() => {
    auth.people().then(setTenants, onFail);
  }, [auth, onFail]);
  const roles = t.roleNames as Record<string, string>;
  return (
    <>
      <div>
        <h2 style={{ margin: "0 0 2px", fontSize: 20 }}>{t.signIn.demo}</h2>
        <p style={{ margin: 0, color: "var(--ink-3)" }}>{t.signIn.demoNote}</p>
      </div>
      {!tenants && <Skeleton height={280} radius="lg" />}
      {tenants?.map((tenant) => (
        <Card key={tenant.id} bare>
          <div className="tenant">
            <h2>{tenant.name}</h2>
            <div className="people">
              {tenant.people.map(({ subject, role }) => (
                <Button
                  key={subject}
                  variant="default"
                  justify="space-between"
                  rightSection={<IconArrowRight size={14} aria-hidden />}
                  loading={chosen === tenant.id + subject}
                  aria-label={t.signIn.as(roles[role] ?? role, tenant.name)}
                  onClick={() => {
                    setChosen(tenant.id + subject);
                    void auth.be(tenant.id, subject);
                  }}
                >
                  {roles[role] ?? role}
                </Button>
              ))}
            </div>
          </div>
        </Card>
      ))}
      {tenants?.length === 0 && <Alert color="yellow">{t.signIn.noDemo}</Alert>}
    </>
  );
}

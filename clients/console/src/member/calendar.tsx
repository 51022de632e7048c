import { NotificationService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { ask } from "../shared/ask";
import { useCall } from "../shared/calls";
import { Card, CopyButton, Shown } from "../shared/ui";

/** The link to the member's calendar feed. It is a secret and shown only once. */
export function Calendar() {
  const t = useText();
  const m = useMemberTexts();
  const query = useQuery(NotificationService.method.getPreferences, {});
  const make = useCall(NotificationService.method.createCalendarFeed);
  const end = useCall(NotificationService.method.deleteCalendarFeed, { done: m.calendar.revoked });
  const [address, setAddress] = useState("");
  const renew = async (replaces: boolean) => {
    const sure =
      !replaces ||
      (await ask({
        title: m.calendar.renewTitle,
        body: m.calendar.renewBody,
        yes: m.calendar.renew,
      }));
    if (sure) setAddress((await make.run({}))?.url ?? "");
  };
  const revoke = async () => {
    const sure = await ask({
      title: m.calendar.revokeTitle,
      body: m.calendar.revokeBody,
      yes: m.calendar.revoke,
      danger: true,
    });
    if (sure && (await end.run({}))) setAddress("");
  };
  return (
    <Card title={m.calendar.title}>
      <Shown of={query} rows={2}>
        {({ preferences }) => {
          const open = preferences?.hasCalendarFeed ?? false;
          return (
            <div className="form">
              <p className="muted" style={{ margin: 0 }}>
                {open && !address ? m.calendar.open : m.calendar.note}
              </p>
              {address && (
                <>
                  <TextInput
                    label={m.calendar.address}
                    description={m.calendar.secret}
                    readOnly
                    value={address}
                    onFocus={(event) => event.currentTarget.select()}
                    rightSection={<CopyButton text={address} label={t.actions.copy} />}
                  />
                  <Button component="a" href={address.replace(/^https?:/, "webcal:")}>
                    {m.calendar.add}
                  </Button>
                </>
              )}
              <div style={{ display: "flex", gap: 8, flexWrap: "wrap" }}>
                <Button variant="default" loading={make.busy} onClick={() => void renew(open)}>
                  {open ? m.calendar.renew : m.calendar.make}
                </Button>
                {open && (
                  <Button
                    variant="subtle"
                    color="red"
                    loading={end.busy}
                    onClick={() => void revoke()}
                  >
                    {m.calendar.revoke}
                  </Button>
                )}
              </div>
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}

import { type Tenant, TenantService } from "@berthhq/client";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Select, Switch, TextInput } from "@mantine/core";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useDo } from "../../shared/calls";
import { useMe } from "../../shared/root";
import { Card } from "../../shared/ui";
import { EditForm, maskOf } from "../form";

type Values = Pick<Tenant, "name" | "timeZone" | "locale" | "currency" | "takesPayments">;

function versionOf({ name, timeZone, locale, currency, takesPayments, etag }: Tenant) {
  const values: Values = { name, timeZone, locale, currency, takesPayments };
  return { values, etag };
}

/** What holds for the whole organization. */
export function Organization() {
  const t = useText();
  const d = useDesk();
  const { tenant } = useMe();
  const transport = useTransport();
  const update = useDo(TenantService.method.updateTenant, { quiet: true, done: t.done.saved });
  return (
    <div style={{ maxWidth: 620 }}>
      <Card title={d.catalog.organization}>
        <EditForm<Values>
          fresh={false}
          current={versionOf(tenant)}
          names={{
            ...t.fields,
            currency: d.catalog.currency,
            takesPayments: d.catalog.takesPayments,
          }}
          reread={async () => {
            const answer = await callUnaryMethod(transport, TenantService.method.getTenant, {});
            return versionOf(answer.tenant ?? tenant);
          }}
          save={(values, changed, etag) =>
            update.run({
              tenant: { ...values, name: values.name.trim(), etag },
              updateMask: { paths: changed.map(maskOf) },
            })
          }
        >
          {(values, set) => (
            <>
              <TextInput
                label={t.fields.name}
                required
                maxLength={200}
                value={values.name}
                onChange={(event) => set({ name: event.currentTarget.value })}
              />
              <Select
                label={t.fields.timeZone}
                description={d.catalog.tenantZoneNote}
                required
                searchable
                allowDeselect={false}
                value={values.timeZone}
                onChange={(zone) => set({ timeZone: zone ?? values.timeZone })}
                data={Intl.supportedValuesOf("timeZone")}
                limit={60}
              />
              <div className="two">
                <TextInput
                  label={t.fields.locale}
                  required
                  maxLength={35}
                  placeholder="de-DE"
                  value={values.locale}
                  onChange={(event) => set({ locale: event.currentTarget.value })}
                />
                <TextInput
                  label={d.catalog.currency}
                  required
                  pattern="[A-Z]{3}"
                  maxLength={3}
                  value={values.currency}
                  onChange={(event) => set({ currency: event.currentTarget.value.toUpperCase() })}
                />
              </div>
              <Switch
                label={d.catalog.takesPayments}
                description={d.catalog.takesPaymentsNote}
                checked={values.takesPayments}
                onChange={(event) => set({ takesPayments: event.currentTarget.checked })}
              />
            </>
          )}
        </EditForm>
      </Card>
    </div>
  );
}

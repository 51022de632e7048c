import { type Tenant, TenantService } from "@berthhq/client";
import { Switch, TextInput } from "@mantine/core";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall, useRead } from "../../shared/calls";
import { useMe } from "../../shared/me";
import { Card } from "../../shared/ui";
import { EditForm, maskOf } from "../form";
import { Language, Name, Zone } from "../inputs";
import { Branding, type BrandValues } from "./branding";

type Values = Pick<Tenant, "name" | "timeZone" | "locale" | "currency" | "takesPayments"> &
  BrandValues;

function versionOf({ name, timeZone, locale, currency, takesPayments, brand, etag }: Tenant) {
  const { logoUrl = "", accentColor = "" } = brand ?? {};
  const values: Values = { name, timeZone, locale, currency, takesPayments, logoUrl, accentColor };
  return { values, etag };
}

/** The path of a field in the update mask. */
const pathOf = (key: keyof Values) =>
  key === "logoUrl" || key === "accentColor" ? `brand.${maskOf(key)}` : maskOf(key);

/** Settings of the whole organization. */
export function Organization() {
  const t = useText();
  const d = useDesk();
  const { tenant } = useMe();
  const read = useRead();
  const update = useCall(TenantService.method.updateTenant, { quiet: true, done: t.done.saved });
  return (
    <div style={{ maxWidth: 620 }}>
      <Card title={d.catalog.organization}>
        <EditForm<Values>
          current={versionOf(tenant)}
          names={{
            ...t.fields,
            currency: d.catalog.currency,
            takesPayments: d.catalog.takesPayments,
            logoUrl: d.catalog.logo,
            accentColor: d.catalog.accent,
          }}
          reread={async () => {
            const answer = await read(TenantService.method.getTenant, {});
            return versionOf(answer.tenant ?? tenant);
          }}
          save={({ logoUrl, accentColor, ...values }, changed, etag) =>
            update.run({
              tenant: {
                ...values,
                name: values.name.trim(),
                brand: { logoUrl, accentColor },
                etag,
              },
              updateMask: { paths: changed.map(pathOf) },
            })
          }
        >
          {({ values, set, ...form }) => (
            <>
              <Name {...form.text("name")} />
              <Zone {...form.choice("timeZone")} description={d.catalog.tenantZoneNote} />
              <div className="two">
                <Language {...form.choice("locale")} required allowDeselect={false} />
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
                {...form.flag("takesPayments")}
                label={d.catalog.takesPayments}
                description={d.catalog.takesPaymentsNote}
              />
              <Branding values={values} set={set} />
            </>
          )}
        </EditForm>
      </Card>
    </div>
  );
}

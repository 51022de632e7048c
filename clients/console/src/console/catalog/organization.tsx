import { type Tenant, TenantService } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  Box,
  Button,
  Fieldset,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useMe } from "../../shared/auth/user";
import { MINUTE } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import {
  brandVariables,
  isColor,
  isLogo,
  logoPattern,
  maxLogoLength,
} from "../../shared/theme/brand";
import { BerthIcon, Card, Logo, Wordmark } from "../../shared/ui";
import { FieldHint } from "../ui";
import { EditForm, maskOf, pick, useSave } from "../ui/edit-form";
import { Columns, Language, Name, Zone } from "../ui/inputs";
import classes from "./branding.module.css";
import { catalogTexts } from "./texts";

const valuesOf = (tenant: Tenant) => ({
  ...pick(tenant, "name", "timeZone", "locale", "currency", "takesPayments", "auditMemberReads"),
  signInMinutes: (Number(tenant.stepUp?.maxAge?.seconds ?? 0) / 60 || "") as number | "",
  acrValues: tenant.stepUp?.acrValues ?? [],
  logoUrl: tenant.brand?.logoUrl ?? "",
  accentColor: tenant.brand?.accentColor ?? "",
});

/** Settings of the whole organization. */
export function Organization() {
  const t = useText(catalogTexts);
  const { tenant, can } = useMe();
  const update = useSave(TenantService.method.updateTenant);
  return (
    <Box maw={620}>
      <Card title={t.catalog.organization}>
        <EditForm
          entity={tenant}
          valuesOf={valuesOf}
          names={{
            ...t.fields,
            ...t.catalog,
            logoUrl: t.catalog.logo,
            accentColor: t.catalog.accent,
          }}
          pathOf={(key) => {
            if (key === "signInMinutes" || key === "acrValues") return "step_up";
            return key === "logoUrl" || key === "accentColor"
              ? `brand.${maskOf(key)}`
              : maskOf(key);
          }}
          save={(
            { logoUrl, accentColor, signInMinutes, acrValues, ...values },
            { updateMask, etag },
          ) => {
            const brand = { logoUrl, accentColor };
            const maxAge = durationFromMs(Number(signInMinutes) * MINUTE);
            const stepUp = { acrValues, ...(signInMinutes && { maxAge }) };
            const asks = signInMinutes || acrValues.length > 0;
            return update({
              tenant: { ...values, name: values.name.trim(), brand, ...(asks && { stepUp }) },
              updateMask,
              etag,
            });
          }}
        >
          {({ values, set, ...form }) => (
            <>
              <Name {...form.text("name")} />
              <Zone {...form.choice("timeZone")} description={t.catalog.tenantZoneNote} />
              <Columns>
                <Language {...form.choice("locale")} required allowDeselect={false} />
                <TextInput
                  {...form.text("currency")}
                  required
                  pattern="[A-Z]{3}"
                  maxLength={3}
                  onChange={(event) => set({ currency: event.currentTarget.value.toUpperCase() })}
                />
              </Columns>
              <Switch {...form.flag("takesPayments")} description={t.catalog.takesPaymentsNote} />
              <Switch
                {...form.flag("auditMemberReads")}
                description={t.catalog.auditMemberReadsNote}
              />
              {can("admin.manage") && (
                <Fieldset legend={t.catalog.stepUp}>
                  <FieldHint>{t.catalog.stepUpNote}</FieldHint>
                  <Columns>
                    <NumberInput
                      {...form.number("signInMinutes")}
                      min={1}
                      max={1440}
                      placeholder={t.catalog.anySignIn}
                    />
                    <TagsInput {...form.value("acrValues")} maxTags={10} />
                  </Columns>
                </Fieldset>
              )}
              <Branding values={values} set={set} />
            </>
          )}
        </EditForm>
      </Card>
    </Box>
  );
}

/** An organization's brand. Empty fields mean Berth's own. */
interface BrandValues {
  readonly logoUrl: string;
  readonly accentColor: string;
}

/** The initial color of the picker. */
const defaultColor = "#0f6b75";

interface BrandingProps {
  values: BrandValues & { readonly name: string };
  set: (part: Partial<BrandValues>) => void;
}

/** Edits an organization's logo and color, with a preview. */
function Branding({ values: { name, logoUrl, accentColor }, set }: BrandingProps) {
  const t = useText(catalogTexts);
  const [missing, setMissing] = useState(false);
  // Debounced, so that a partly typed URL is not requested.
  const [debouncedUrl] = useDebouncedValue(logoUrl, 400);
  const logo = debouncedUrl === logoUrl && isLogo(logoUrl) ? logoUrl : "";
  const invalidLogo = logoUrl !== "" && !isLogo(logoUrl);
  return (
    <Fieldset legend={t.catalog.branding}>
      <Stack gap={14}>
        <FieldHint>{t.catalog.brandingNote}</FieldHint>
        <TextInput
          type="url"
          label={t.catalog.logo}
          description={t.catalog.logoNote}
          placeholder="https://"
          maxLength={maxLogoLength}
          pattern={logoPattern}
          title={t.catalog.logoWrong}
          autoComplete="off"
          value={logoUrl}
          onChange={(event) => {
            setMissing(false);
            set({ logoUrl: event.currentTarget.value.trim() });
          }}
          error={invalidLogo ? t.catalog.logoWrong : logo && missing && t.catalog.logoMissing}
        />
        <TextInput
          label={t.catalog.accent}
          description={t.catalog.accentNote}
          placeholder="#"
          maxLength={7}
          pattern="#[0-9a-fA-F]{6}"
          title={t.catalog.accentWrong}
          autoComplete="off"
          spellCheck={false}
          value={accentColor}
          onChange={(event) => set({ accentColor: event.currentTarget.value.trim() })}
          error={accentColor !== "" && !isColor(accentColor) && t.catalog.accentWrong}
          rightSection={
            <input
              type="color"
              className={classes.picker}
              aria-label={t.catalog.accentPick}
              value={isColor(accentColor) ? accentColor.toLowerCase() : defaultColor}
              onChange={(event) => set({ accentColor: event.currentTarget.value })}
            />
          }
        />
        <SimpleGrid minColWidth={180} autoFlow="auto-fit" spacing={12}>
          <Preview scheme="light" {...{ name, logo, accent: accentColor }} onMissing={setMissing} />
          <Preview scheme="dark" {...{ name, logo, accent: accentColor }} />
        </SimpleGrid>
      </Stack>
    </Fieldset>
  );
}

interface PreviewProps {
  scheme: "light" | "dark";
  name: string;
  logo: string;
  accent: string;
  onMissing?: (missing: boolean) => void;
}

/** Preview of the header of the member app and a button. */
function Preview({ scheme, name, logo, accent, onMissing }: PreviewProps) {
  const t = useText(catalogTexts);
  return (
    <figure className={classes.preview} data-scheme={scheme} style={brandVariables(accent)}>
      <figcaption>{scheme === "light" ? t.catalog.previewLight : t.catalog.previewDark}</figcaption>
      <div className={classes.page}>
        <div className={classes.name}>
          <Wordmark>
            <Logo url={logo} name={name} {...(onMissing && { onMissing })}>
              <BerthIcon size={22} />
              <Text span inherit truncate>
                {name}
              </Text>
            </Logo>
          </Wordmark>
        </div>
        {/* The preview is not interactive. */}
        <Button component="span" className={classes.button} size="xs" fullWidth tabIndex={-1}>
          {t.common.book}
        </Button>
      </div>
    </figure>
  );
}

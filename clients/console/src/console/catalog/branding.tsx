import "./branding.css";
import { Button, Fieldset, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { brandVariables, isColor, isLogo, logoPattern, maxLogoLength } from "../../shared/brand";
import { Logo, Mark } from "../../shared/ui";

/** An organization's brand. Empty fields mean Berth's own. */
export interface BrandValues {
  readonly logoUrl: string;
  readonly accentColor: string;
}

/** The initial color of the picker. */
const defaultColor = "#0f6b75";

/** Edits an organization's logo and color, with a preview. */
export function Branding({
  values: { name, logoUrl, accentColor },
  set,
}: {
  values: BrandValues & { readonly name: string };
  set: (part: Partial<BrandValues>) => void;
}) {
  const d = useDesk();
  const [missing, setMissing] = useState(false);
  // Debounced, so that a partly typed URL is not requested.
  const [debouncedUrl] = useDebouncedValue(logoUrl, 400);
  const logo = debouncedUrl === logoUrl && isLogo(logoUrl) ? logoUrl : "";
  const invalidLogo = logoUrl !== "" && !isLogo(logoUrl);
  return (
    <Fieldset className="form" legend={d.catalog.branding}>
      <p className="muted form-note">{d.catalog.brandingNote}</p>
      <TextInput
        type="url"
        label={d.catalog.logo}
        description={d.catalog.logoNote}
        placeholder="https://"
        maxLength={maxLogoLength}
        pattern={logoPattern}
        title={d.catalog.logoWrong}
        autoComplete="off"
        value={logoUrl}
        onChange={(event) => {
          setMissing(false);
          set({ logoUrl: event.currentTarget.value.trim() });
        }}
        error={invalidLogo ? d.catalog.logoWrong : logo && missing && d.catalog.logoMissing}
      />
      <TextInput
        label={d.catalog.accent}
        description={d.catalog.accentNote}
        placeholder="#"
        maxLength={7}
        pattern="#[0-9a-fA-F]{6}"
        title={d.catalog.accentWrong}
        autoComplete="off"
        spellCheck={false}
        value={accentColor}
        onChange={(event) => set({ accentColor: event.currentTarget.value.trim() })}
        error={accentColor !== "" && !isColor(accentColor) && d.catalog.accentWrong}
        rightSection={
          <input
            type="color"
            aria-label={d.catalog.accentPick}
            value={isColor(accentColor) ? accentColor.toLowerCase() : defaultColor}
            onChange={(event) => set({ accentColor: event.currentTarget.value })}
          />
        }
      />
      <div className="brand-previews">
        <Preview scheme="light" {...{ name, logo, accent: accentColor }} onMissing={setMissing} />
        <Preview scheme="dark" {...{ name, logo, accent: accentColor }} />
      </div>
    </Fieldset>
  );
}

/** Preview of the header of the member app and a button. */
function Preview({
  scheme,
  name,
  logo,
  accent,
  onMissing,
}: {
  scheme: "light" | "dark";
  name: string;
  logo: string;
  accent: string;
  onMissing?: (missing: boolean) => void;
}) {
  const t = useText();
  const d = useDesk();
  return (
    <figure className={`brand-preview ${scheme}`} style={brandVariables(accent)}>
      <figcaption>{scheme === "light" ? d.catalog.previewLight : d.catalog.previewDark}</figcaption>
      <div className="brand-page">
        <div className="wordmark">
          <Logo url={logo} name={name} {...(onMissing && { onMissing })}>
            <Mark size={22} />
            <span className="ellipsis">{name}</span>
          </Logo>
        </div>
        {/* The preview is not interactive. */}
        <Button component="span" size="xs" fullWidth tabIndex={-1}>
          {t.app.book}
        </Button>
      </div>
    </figure>
  );
}

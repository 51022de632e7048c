import { PolicySchema, WaitlistRulesSchema } from "@berthhq/client";
import { expect, it } from "vitest";
import { de as deConsole } from "../../i18n/console/de";
import { en as enConsole } from "../../i18n/console/en";
import { fr as frConsole } from "../../i18n/console/fr";
import { de } from "../../i18n/de";
import { en } from "../../i18n/en";
import { fr } from "../../i18n/fr";
import { rulesSettings } from "../waitlists/settings";
import { policySettings } from "./policies";

it.each([
  ["policies", PolicySchema, policySettings],
  ["waitlist rules", WaitlistRulesSchema, rulesSettings],
])("shows every setting of %s once, with a name and a description", (_, { fields }, settings) => {
  const names = fields.map(({ localName }) => localName).sort();
  const all = [
    { ...en, ...enConsole },
    { ...de, ...deConsole },
    { ...fr, ...frConsole },
  ];
  for (const language of all) {
    const { groups, kinds, texts } = settings(language);
    expect(groups.flatMap(([, group]) => group).sort()).toEqual(names);
    expect(Object.keys(kinds).sort()).toEqual(names);
    expect(Object.keys(texts).sort()).toEqual(names);
  }
});

import { PolicySchema, WaitlistRulesSchema } from "@berthhq/client";
import { expect, it } from "vitest";
import { de } from "../first-texts/de";
import { en } from "../first-texts/en";
import { fr } from "../first-texts/fr";
import { rulesSettings } from "../waitlists/settings";
import { policySettings } from "./policies";

it.each([
  ["policies", PolicySchema, policySettings],
  ["waitlist rules", WaitlistRulesSchema, rulesSettings],
])("shows every setting of %s once, with a name and a description", (_, { fields }, settings) => {
  const names = fields.map(({ localName }) => localName).sort();
  for (const language of [en, de, fr]) {
    const { groups, kinds, texts } = settings(language);
    expect(groups.flatMap(([, group]) => group).sort()).toEqual(names);
    expect(Object.keys(kinds).sort()).toEqual(names);
    expect(Object.keys(texts).sort()).toEqual(names);
  }
});

import { expect, test } from "vitest";
import { filterActions, filterOptions } from "./filters";

const option = (label: string) => ({ value: label, label, disabled: false });

test("options are found without accents and case, in groups too", () => {
  const options = [
    option("Salle Étoile"),
    { group: "Paris", items: [option("Étage"), option("Cour")] },
    { group: "Lyon", items: [option("Terrain")] },
  ];
  const find = (search: string, limit = Number.POSITIVE_INFINITY) =>
    filterOptions({ options, search, limit });
  expect(find("ETA")).toEqual([{ group: "Paris", items: [option("Étage")] }]);
  expect(find(" etoile ")).toEqual([option("Salle Étoile")]);
  expect(find("")).toEqual(options);
  expect(find("", 2)).toEqual([
    option("Salle Étoile"),
    { group: "Paris", items: [option("Étage")] },
  ]);
  expect(find("nowhere")).toEqual([]);
});

test("actions are found without accents and case, those that are called so first", () => {
  const groups = [
    { group: "Pages", actions: [{ label: "Übersicht" }, { label: "Räume", description: "Uber" }] },
    {
      group: "Mitglieder",
      actions: [
        { label: "Zoë", keywords: "0170" },
        { label: "Bo", keywords: ["ÜBER"] },
      ],
    },
  ];
  const found = (query: string) =>
    filterActions(query, groups).map(({ group, actions }) =>
      [group, ...actions.map(({ label }) => label)].join(" "),
    );
  expect(found("UBER")).toEqual(["Pages Übersicht Räume", "Mitglieder Bo"]);
  expect(found("zoe")).toEqual(["Mitglieder Zoë"]);
  expect(found("0170")).toEqual(["Mitglieder Zoë"]);
  expect(found("")).toHaveLength(2);
  expect(found("nobody")).toEqual([]);
});

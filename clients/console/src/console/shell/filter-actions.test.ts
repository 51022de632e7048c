import { expect, test } from "vitest";
import { filterActions } from "./filter-actions";

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

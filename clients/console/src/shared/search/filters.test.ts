import { expect, test } from "vitest";
import { filterOptions } from "./filters";

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

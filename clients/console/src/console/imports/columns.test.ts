import { expect, it } from "vitest";
import { moved } from "./columns";

it("gives a field to one column alone", () => {
  const columns = [
    { name: "Who", field: "" },
    { name: "Name", field: "name" },
    { name: "Nr.", field: "" },
  ];
  const fields = (at: number, field: string) => moved(columns, at, field).map((c) => c.field);
  expect(fields(0, "name")).toEqual(["name", "", ""]);
  expect(fields(1, "")).toEqual(["", "", ""]);
  expect(fields(2, "email")).toEqual(["", "name", "email"]);
});

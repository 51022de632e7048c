import { expect, test } from "vitest";
import { list, number, oneOf, route, text } from "./route";

const session = route("/sessions/:session", {
  tab: oneOf("roster", "waitlist"),
  days: number(30),
  actor: text(),
  id: list,
});

test("A path has its parameters", () => {
  expect(session.path({ session: "a/b" })).toBe("/sessions/a%2Fb");
  expect(
    session.path({ session: "a", tab: "waitlist", days: 7, actor: "x y", id: ["1", "2"] }),
  ).toBe("/sessions/a?tab=waitlist&days=7&actor=x+y&id=1&id=2");
  expect(route("/").path()).toBe("/");
});

test("A path leaves out default values", () => {
  expect(session.path({ session: "a", tab: "roster", days: 30, actor: "", id: [] })).toBe(
    "/sessions/a",
  );
});

test("The compiler rejects unknown names and missing parameters", () => {
  // @ts-expect-error: the session is missing
  session.path({ tab: "waitlist" });
  // @ts-expect-error: no such search parameter
  session.path({ session: "a", page: "2" });
  // @ts-expect-error: no such option
  session.path({ session: "a", tab: "money" });
});

test("A parameter that is absent or wrong has its default value", () => {
  const tab = oneOf("roster", "waitlist");
  expect(["waitlist", "roster", "else", ""].map((value) => tab.read([value]))).toEqual([
    "waitlist",
    "roster",
    "roster",
    "roster",
  ]);
  expect([number(30).read([]), number(30).read(["x"]), number(30).read(["7"])]).toEqual([
    30, 30, 7,
  ]);
  expect([text("de").read([]), text("de").read(["fr"])]).toEqual(["de", "fr"]);
});

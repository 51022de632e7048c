import { expect, it } from "vitest";
import { type Facts, type Step, stepsOf } from "./steps";

const me = { id: "me", roles: ["owner"] };
const nothing: Facts = { locations: 0, services: 0, plans: 0, sessions: 0, people: [me], me: "me" };

const done = (facts: Partial<Facts>) =>
  Object.entries(stepsOf({ ...nothing, ...facts })).flatMap(([step, is]) => (is ? [step] : []));

it.each<[Partial<Facts>, Step[]]>([
  [{}, []],
  [{ locations: 1 }, ["location"]],
  [{ services: 2 }, ["service"]],
  [{ plans: 1 }, ["plan"]],
  [{ sessions: 1 }, ["week"]],
  [{ people: [{ id: "me", roles: ["owner", "coach", "member"] }] }, ["coach"]],
  [{ people: [me, { id: "a", roles: ["admin"] }] }, ["staff"]],
  [{ people: [me, { id: "c", roles: ["coach", "member"] }] }, ["coach", "staff"]],
  [{ people: [me, { id: "m", roles: ["member"] }] }, ["members"]],
  [{ people: [me, { id: "m", roles: [] }] }, ["members"]],
  [{ people: [me, { id: "d", roles: ["member", "front_desk"] }] }, ["staff"]],
])("%j makes %j true", (facts, steps) => {
  expect(done(facts)).toEqual(steps);
});

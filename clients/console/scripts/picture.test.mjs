import { describe, expect, it } from "vitest";
import { differences, readPicture } from "./picture.mjs";

const drawn = readPicture(`
## Structure

\`\`\`text
app
  shell          the frame → week
                 → first-texts
  week           days → routes
  first-texts    words
  routes         URLs

other
  shell          the frame

shared
  ui             components → format
  format         times
\`\`\`
`);

const sources = {
  "app/shell.tsx": `const Week = lazy(() => import("./week/page"));\nimport "../shared/format/time";`,
  "app/week/page.tsx": `import { weekRoute } from "../routes";\nimport { DayCard } from "./day";`,
  "app/week/day.tsx": `import {\n  Card,\n} from "../../shared/ui";`,
  "app/routes.ts": `import { matchPath } from "react-router";`,
  "app/first-texts/en.ts": "export const en = {};",
  "app/shell/frame.tsx": `export { en } from "../first-texts/en";`,
  "other/shell.tsx": "",
  "shared/ui/index.ts": `import { Time } from "../format/time";`,
  "shared/format/time.ts": "",
  "texts.test.ts": `import { en } from "./app/first-texts/en";`,
};

it("accepts sources that are as drawn", () => {
  expect(differences(drawn, sources)).toEqual([]);
});

describe("finds", () => {
  it.each([
    [
      "an import without an arrow",
      { "app/week/day.tsx": `import { en } from "../first-texts/en";` },
      "app/week/day.tsx imports app/first-texts: there is no arrow from app/week to it.",
    ],
    [
      "a type without an arrow",
      { "app/week/day.tsx": `import type { en } from "../first-texts/en";` },
      "app/week/day.tsx imports app/first-texts: there is no arrow from app/week to it.",
    ],
    [
      "styles without an arrow",
      { "app/first-texts/en.ts": `import classes from "../week/day.module.css";` },
      "app/first-texts/en.ts imports app/week: there is no arrow from app/first-texts to it.",
    ],
    [
      "an arrow without an import",
      { "app/shell/frame.tsx": "" },
      "There is an arrow from app/shell to app/first-texts, but no such import.",
    ],
    [
      "an import by the other app",
      { "other/shell.tsx": `import { weekRoute } from "../app/routes";` },
      "other/shell.tsx imports app/routes: there is no arrow from other/shell to it.",
    ],
    [
      "an import of an app by what both share",
      { "shared/format/time.ts": `import { weekRoute } from "../../app/routes";` },
      "shared/format/time.ts imports app/routes: there is no arrow from shared/format to it.",
    ],
    [
      "an import between folders of shared",
      { "shared/format/time.ts": `import { Card } from "../ui";` },
      "shared/format/time.ts imports shared/ui: there is no arrow from shared/format to it.",
    ],
    ["a folder that is not drawn", { "app/month/page.tsx": "" }, "The picture lacks app/month."],
  ])("%s", (_, changed, difference) => {
    expect(differences(drawn, { ...sources, ...changed })).toEqual([difference]);
  });

  it("a folder that is drawn and not there", () => {
    const { "other/shell.tsx": _, ...others } = sources;
    expect(differences(drawn, others)).toEqual([
      "The picture has other/shell, which is not there.",
    ]);
  });

  it("an arrow that points up", () => {
    const up = readPicture(
      "\n## Structure\n```text\napp\n  routes         URLs\n  week           days → routes\n```",
    );
    const { "app/week/page.tsx": page, "app/routes.ts": routes } = sources;
    expect(differences(up, { "app/week/page.tsx": page, "app/routes.ts": routes })).toEqual([
      "The picture has app/routes above app/week, which imports it.",
    ]);
  });
});

it.each([
  ["no picture", "# Berth\n"],
  ["a part twice", "\n## Structure\n```text\napp\n  week\n  week\n```"],
])("does not accept %s", (_, readme) => {
  expect(() => readPicture(readme)).toThrow("picture");
});

import type { Messages } from ".";
import { de as app } from "./app/de";
import { de as frame } from "./frame/de";
import { de as office } from "./office/de";
import { de as people } from "./people/de";
import { de as reasons } from "./reasons/de";
import { de as rules } from "./rules/de";
import { de as schedule } from "./schedule/de";

export const de: Messages = {
  ...frame,
  ...schedule,
  ...people,
  ...rules,
  ...office,
  ...app,
  ...reasons,
};

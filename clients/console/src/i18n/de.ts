import { de as app } from "./app/de";
import type { en } from "./en";
import { de as frame } from "./frame/de";
import { de as people } from "./people/de";
import { de as reasons } from "./reasons/de";
import { de as schedule } from "./schedule/de";

export const de: typeof en = {
  ...frame,
  ...schedule,
  ...people,
  ...app,
  ...reasons,
};

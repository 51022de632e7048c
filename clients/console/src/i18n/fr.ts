import { fr as app } from "./app/fr";
import type { en } from "./en";
import { fr as frame } from "./frame/fr";
import { fr as people } from "./people/fr";
import { fr as reasons } from "./reasons/fr";
import { fr as schedule } from "./schedule/fr";

export const fr: typeof en = {
  ...frame,
  ...schedule,
  ...people,
  ...app,
  ...reasons,
};

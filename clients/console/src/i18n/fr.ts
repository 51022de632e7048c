import type { Messages } from ".";
import { fr as app } from "./app/fr";
import { fr as frame } from "./frame/fr";
import { fr as office } from "./office/fr";
import { fr as people } from "./people/fr";
import { fr as reasons } from "./reasons/fr";
import { fr as rules } from "./rules/fr";
import { fr as schedule } from "./schedule/fr";

export const fr: Messages = {
  ...frame,
  ...schedule,
  ...people,
  ...rules,
  ...office,
  ...app,
  ...reasons,
};

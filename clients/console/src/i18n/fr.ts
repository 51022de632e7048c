import { fr as app } from "./app/fr";
import type { en } from "./en";
import { fr as frame } from "./frame/fr";
import { fr as reasons } from "./reasons/fr";
import { fr as shared } from "./shared/fr";

export const fr: typeof en = {
  ...frame,
  ...shared,
  ...app,
  ...reasons,
};

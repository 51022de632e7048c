import { de as app } from "./app/de";
import type { en } from "./en";
import { de as frame } from "./frame/de";
import { de as reasons } from "./reasons/de";
import { de as shared } from "./shared/de";

export const de: typeof en = {
  ...frame,
  ...shared,
  ...app,
  ...reasons,
};

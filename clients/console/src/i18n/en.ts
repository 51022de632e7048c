import { en as app } from "./app/en";
import { en as frame } from "./frame/en";
import { en as reasons } from "./reasons/en";
import { en as shared } from "./shared/en";

export const en = {
  ...frame,
  ...shared,
  ...app,
  ...reasons,
};

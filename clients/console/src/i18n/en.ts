import { en as app } from "./app/en";
import { en as frame } from "./frame/en";
import { en as people } from "./people/en";
import { en as reasons } from "./reasons/en";
import { en as schedule } from "./schedule/en";

export const en = {
  ...frame,
  ...schedule,
  ...people,
  ...app,
  ...reasons,
};

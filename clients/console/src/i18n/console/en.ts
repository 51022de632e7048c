import { en as office } from "../office/en";
import { en as people } from "../people/en";
import { en as rules } from "../rules/en";
import { en as schedule } from "../schedule/en";

export const en = { ...office, ...people, ...rules, ...schedule };

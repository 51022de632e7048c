import { fr as office } from "../office/fr";
import { fr as people } from "../people/fr";
import { fr as rules } from "../rules/fr";
import { fr as schedule } from "../schedule/fr";
import type { en } from "./en";

export const fr: typeof en = { ...office, ...people, ...rules, ...schedule };

import { de as office } from "../office/de";
import { de as people } from "../people/de";
import { de as rules } from "../rules/de";
import { de as schedule } from "../schedule/de";
import type { en } from "./en";

export const de: typeof en = { ...office, ...people, ...rules, ...schedule };

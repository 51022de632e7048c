import { fr as office } from "../office/fr";
import { fr as rules } from "../rules/fr";
import type { en } from "./en";

export const fr: typeof en = { ...office, ...rules };

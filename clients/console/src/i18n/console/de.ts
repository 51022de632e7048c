import { de as office } from "../office/de";
import { de as rules } from "../rules/de";
import type { en } from "./en";

export const de: typeof en = { ...office, ...rules };

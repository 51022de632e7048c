import { en as office } from "../office/en";
import { en as rules } from "../rules/en";

export const en = { ...office, ...rules };

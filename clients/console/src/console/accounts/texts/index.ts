import { firstTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type AccountTexts = typeof en;

export const accountTexts = firstTexts<AccountTexts>();

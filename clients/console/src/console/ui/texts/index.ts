import { firstTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type UiTexts = typeof en;

export const uiTexts = firstTexts<UiTexts>();

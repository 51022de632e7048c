import { firstTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type ShellTexts = typeof en;

export const shellTexts = firstTexts<ShellTexts>();

import { firstTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type SettingTexts = typeof en;

export const settingTexts = firstTexts<SettingTexts>();

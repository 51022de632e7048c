import { firstTexts } from "../../shared/i18n";
import type { en } from "./en";

export type MemberTexts = typeof en;

export const memberTexts = firstTexts<MemberTexts>();

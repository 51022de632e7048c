import { en as reasons } from "../../shared/reasons/texts/en";
import { en as shared } from "../../shared/texts/en";
import { en as accounts } from "../accounts/texts/en";
import { en as analytics } from "../bookings/analytics/texts/en";
import { en as schedules } from "../schedules/texts/en";
import { en as settings } from "../settings/texts/en";
import { en as shell } from "../shell/texts/en";
import { en as ui } from "../ui/texts/en";
import { en as waitlists } from "../waitlists/texts/en";

/** The texts that the console loads first. */
export const en = {
  ...shared,
  ...reasons,
  ...accounts,
  ...analytics,
  ...schedules,
  ...settings,
  ...shell,
  ...ui,
  ...waitlists,
};

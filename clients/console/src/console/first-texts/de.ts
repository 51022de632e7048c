import { de as reasons } from "../../shared/reasons/texts/de";
import { de as shared } from "../../shared/texts/de";
import { de as accounts } from "../accounts/texts/de";
import { de as analytics } from "../bookings/analytics/texts/de";
import { de as schedules } from "../schedules/texts/de";
import { de as settings } from "../settings/texts/de";
import { de as shell } from "../shell/texts/de";
import { de as ui } from "../ui/texts/de";
import { de as waitlists } from "../waitlists/texts/de";

/** The texts that the console loads first. */
export const de = {
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

import { fr as reasons } from "../../shared/reasons/texts/fr";
import { fr as shared } from "../../shared/texts/fr";
import { fr as accounts } from "../accounts/texts/fr";
import { fr as analytics } from "../bookings/analytics/texts/fr";
import { fr as schedules } from "../schedules/texts/fr";
import { fr as settings } from "../settings/texts/fr";
import { fr as shell } from "../shell/texts/fr";
import { fr as ui } from "../ui/texts/fr";
import { fr as waitlists } from "../waitlists/texts/fr";

/** The texts that the console loads first. */
export const fr = {
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

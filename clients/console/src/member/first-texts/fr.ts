import { fr as reasons } from "../../shared/reasons/texts/fr";
import { fr as shared } from "../../shared/texts/fr";
import { fr as member } from "../texts/fr";

/** The texts that the member app loads first. */
export const fr = {
  ...shared,
  ...reasons,
  ...member,
};

import { de as reasons } from "../../shared/reasons/texts/de";
import { de as shared } from "../../shared/texts/de";
import { de as member } from "../texts/de";

/** The texts that the member app loads first. */
export const de = {
  ...shared,
  ...reasons,
  ...member,
};

import { en as reasons } from "../../shared/reasons/texts/en";
import { en as shared } from "../../shared/texts/en";
import { en as member } from "../texts/en";

/** The texts that the member app loads first. */
export const en = {
  ...shared,
  ...reasons,
  ...member,
};

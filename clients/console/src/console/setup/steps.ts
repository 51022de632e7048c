/*
 * The steps from an empty organization to its first bookings. A step is done when it is true,
 * whatever made it so: a form, an import or a program.
 */

/** What is known of an organization. */
export interface Facts {
  /** What is in use. */
  readonly locations: number;
  readonly services: number;
  readonly plans: number;
  /** Published sessions, past ones too. */
  readonly sessions: number;
  /** The active members with their roles. */
  readonly people: readonly { readonly id: string; readonly roles: readonly string[] }[];
  /** The user. */
  readonly me: string;
}

/** Whether somebody works here: with any role but that of members, also one of the organization's own. */
const isStaff = (roles: readonly string[]) => roles.some((role) => role !== "member");

/** Whether each step is done, in their order. */
export const stepsOf = ({ locations, services, plans, sessions, people, me }: Facts) => ({
  location: locations > 0,
  service: services > 0,
  coach: people.some(({ roles }) => roles.includes("coach")),
  plan: plans > 0,
  week: sessions > 0,
  staff: people.some(({ id, roles }) => id !== me && isStaff(roles)),
  members: people.some(({ roles }) => !isStaff(roles)),
});

export type Step = keyof ReturnType<typeof stepsOf>;

import type { GetMeResponse, Tenant } from "@berthhq/client";
import { createContext, use } from "react";
import type { Auth } from "./auth";

/** The signed-in user and their tenant. */
export interface Me {
  readonly member: NonNullable<GetMeResponse["member"]>;
  readonly tenant: Tenant;
  readonly devices: GetMeResponse["devices"];
  /** The user's own contacts that are not confirmed yet. */
  readonly pending: GetMeResponse["pendingContacts"];
  /** Whether the user has a permission. */
  readonly can: (permission: string) => boolean;
}

export const AuthContext = createContext<Auth | null>(null);
export const MeContext = createContext<Me | null>(null);

function needed<T>(value: T | null): T {
  if (value === null) throw new Error("used outside of its provider");
  return value;
}

export const useAuth = (): Auth => needed(use(AuthContext));
export const useMe = (): Me => needed(use(MeContext));
export const useCan = (): Me["can"] => useMe().can;

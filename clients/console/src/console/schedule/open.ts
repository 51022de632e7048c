import type { MouseEvent } from "react";
import { useLocation, useNavigate } from "react-router";
import type { From } from "../back";

/** Opens a session from the schedule, so that the way back leads to the same days in the same view. */
export function useOpenSession() {
  const go = useNavigate();
  const { pathname, search } = useLocation();
  const from: From = { from: pathname + search };
  const pathOf = (id: string) => `/sessions/${id}`;
  return {
    pathOf,
    /** What a click on a link to the session does. One that asks for another tab is the browser's. */
    open: (event: MouseEvent, id: string) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      void go(pathOf(id), { state: from });
    },
  };
}

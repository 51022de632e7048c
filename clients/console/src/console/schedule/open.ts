import type { MouseEvent } from "react";
import { useLocation, useNavigate } from "react-router";
import type { From } from "../back";

/** Opens a session so that its back link returns to the same days and view. */
export function useOpenSession() {
  const go = useNavigate();
  const { pathname, search } = useLocation();
  const from: From = { from: pathname + search };
  const pathOf = (id: string) => `/sessions/${id}`;
  return {
    pathOf,
    /** Click handler of a session link. Modified clicks are left to the browser. */
    open: (event: MouseEvent, id: string) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      void go(pathOf(id), { state: from });
    },
  };
}

import { type Session, SessionService } from "@berthhq/client";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useFailed } from "../../shared/calls";

/** Returns a function that loads a session when an action needs it. */
export function useSessionOf(): (id: string) => Promise<Session | undefined> {
  const transport = useTransport();
  const failed = useFailed();
  return async (sessionId) => {
    try {
      const answer = await callUnaryMethod(transport, SessionService.method.getSession, {
        sessionId,
      });
      return answer.session;
    } catch (error) {
      failed(error);
      return undefined;
    }
  };
}

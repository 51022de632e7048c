import type { ReactNode } from "react";
import { Store } from "../state/store";

export interface Question {
  readonly title: string;
  readonly body?: ReactNode;
  readonly yes: string;
  readonly danger?: boolean;
  /** Asks for a reason, with this label. */
  readonly reason?: string;
}

interface Asked extends Question {
  /** Closes the dialog. */
  readonly answer: (answer: Answer) => void;
}

type Answer = { readonly reason: string } | undefined;

/** The question of the open confirmation dialog. */
export const openQuestion = new Store<Asked | undefined>(undefined);

/** Shows a confirmation dialog. Resolves to undefined if the user cancels. */
export const ask = (question: Question): Promise<Answer> =>
  new Promise((resolve) =>
    openQuestion.set({
      ...question,
      answer: (answer) => {
        resolve(answer);
        openQuestion.set(undefined);
      },
    }),
  );

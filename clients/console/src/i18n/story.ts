import { type Language, useSpeech } from ".";
import { de } from "./story/de";
import { en } from "./story/en";
import { fr } from "./story/fr";

/** What is told of the waitlist's decisions, to members and to staff. It comes with the pages that tell it, so that no app's first load carries it. */
export type Story = typeof en;

const stories: Record<Language, Story> = { en, de, fr };

export const useStory = (): Story => stories[useSpeech().language];

export { Avatar } from "./avatar";
export { Card } from "./card";
export { CopyButton } from "./copy-button";
export { NoPage, PageHead, SkipLink, WordmarkLink } from "./frame";
export { BerthIcon, Logo, Wordmark } from "./logo";
export * from "./query-result";
export { Tag, type Tone } from "./tag";
export { Time } from "./time";

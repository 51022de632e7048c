import type { ReactNode } from "react";
import type { Messages } from "../../i18n";

/** A setting as it is typed. */
export interface Typed<V> {
  readonly label: string;
  readonly value: V;
  /** What is wrong with it is told beside it. */
  readonly wrong?: boolean;
  onChange(value: V): void;
}

/** How a setting is read from the contract and written for it, shown and typed. */
export interface Kind<V> {
  read(value: unknown): V;
  write(value: V): unknown;
  show(value: V, t: Messages): string;
  input(typed: Typed<V>): ReactNode;
  /** Why it cannot be kept; undefined where it can. */
  wrong?(value: V, t: Messages): string | undefined;
  /** What it begins with where nothing is inherited. */
  readonly first: V;
}

export type Kinds = Readonly<Record<string, Kind<unknown>>>;

/** What a level sets, by field. What is undefined is inherited. */
export type Values = Record<string, unknown>;

export function readField(message: object | undefined, field: string, kinds: Kinds): unknown {
  const value = (message as Values | undefined)?.[field];
  return value === undefined ? undefined : kinds[field]?.read(value);
}

export const readAll = (message: object | undefined, kinds: Kinds): Values =>
  Object.fromEntries(Object.keys(kinds).map((field) => [field, readField(message, field, kinds)]));

/** What the contract calls these values. */
export const writeAll = <M extends object>(values: Values, kinds: Kinds): M =>
  Object.fromEntries(
    Object.entries(kinds).flatMap(([field, kind]) =>
      values[field] === undefined ? [] : [[field, kind.write(values[field])]],
    ),
  ) as M;

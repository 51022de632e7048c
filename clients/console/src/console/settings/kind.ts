import type { ReactNode } from "react";
import type { UiTexts } from "../ui/texts";
import type { SettingTexts } from "./texts";

type KindTexts = SettingTexts & UiTexts;

/** The props of a setting's input. */
export interface Typed<V> {
  readonly label: string;
  readonly value: V;
  /** The error is shown next to the input. */
  readonly wrong?: boolean;
  onChange(value: V): void;
}

/** How a setting is read from the contract, written to it, shown and edited. */
export interface Kind<V> {
  read(value: unknown): V;
  write(value: V): unknown;
  show(value: V, t: KindTexts): string;
  input(typed: Typed<V>): ReactNode;
  /** Why the value is invalid; undefined if it is valid. */
  wrong?(value: V, t: KindTexts): string | undefined;
  /** The initial value if nothing is inherited. */
  readonly first: V;
}

export type Kinds = Readonly<Record<string, Kind<unknown>>>;

/** The values that a level sets, by field. undefined is inherited. */
export type Values = Record<string, unknown>;

export function readField(message: object | undefined, field: string, kinds: Kinds): unknown {
  const value = (message as Values | undefined)?.[field];
  return value === undefined ? undefined : kinds[field]?.read(value);
}

export const readAll = (message: object | undefined, kinds: Kinds): Values =>
  Object.fromEntries(Object.keys(kinds).map((field) => [field, readField(message, field, kinds)]));

/** The values as the contract expects them. */
export const writeAll = <M extends object>(values: Values, kinds: Kinds): M =>
  Object.fromEntries(
    Object.entries(kinds).flatMap(([field, kind]) =>
      values[field] === undefined ? [] : [[field, kind.write(values[field])]],
    ),
  ) as M;

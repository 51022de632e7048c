import { Select, type SelectProps } from "@mantine/core";
import { named } from "../../shared/forms/options";

type FilterSelectProps = Omit<SelectProps, "value" | "onChange" | "data"> & {
  /** Label of the option that selects all. */
  all: string;
  entities: readonly { id: string; name: string }[];
  value: string;
  onChange: (id: string) => void;
};

/** Selects one of several entities, or all of them, which is "". */
export function FilterSelect({ all, entities, value, onChange, ...props }: FilterSelectProps) {
  return (
    <Select
      allowDeselect={false}
      value={value || "all"}
      onChange={(id) => onChange(id === "all" ? "" : (id ?? ""))}
      data={[{ value: "all", label: all }, ...named(entities)]}
      {...props}
    />
  );
}

type NumberSelectProps = Omit<SelectProps<number>, "data" | "onChange"> & {
  label: string;
  /** By number. */
  names: Readonly<Record<number, string>>;
  /** The name of an option for all. */
  any?: string;
  /** The offered numbers. */
  only?: readonly number[];
  onChange: (value: number) => void;
};

/** Selects a name by its number in the contract. */
export function NumberSelect({ label, names, any, only, onChange, ...props }: NumberSelectProps) {
  const data = Object.entries(names).map(([number, name]) => {
    const value = Number(number);
    return { value, label: value === 0 ? (any ?? "") : name };
  });
  return (
    <Select
      aria-label={label}
      w={150}
      allowDeselect={false}
      onChange={(value) => onChange(value ?? 0)}
      data={data.filter((one) => one.label && (!only || only.includes(one.value)))}
      {...props}
    />
  );
}

import { type NumberInputProps, TextInput } from "@mantine/core";
import { type ComponentType, lazy, Suspense } from "react";
import { whenOnline } from "../loading/online";

type Props = NumberInputProps<number>;

const Loaded = lazy(async () => {
  const { NumberInput } = await whenOnline(() => import("./number-input-loaded"));
  return { default: NumberInput as ComponentType<Props> };
});

/** A number input on a page. What formats the number loads after the page. */
export const NumberInput = (props: Props) => {
  const { label, "aria-label": name, size, w, value } = props;
  return (
    <Suspense
      fallback={
        <TextInput
          label={label}
          aria-label={name}
          size={size ?? "sm"}
          w={w}
          value={value ?? ""}
          readOnly
        />
      }
    >
      <Loaded {...props} />
    </Suspense>
  );
};

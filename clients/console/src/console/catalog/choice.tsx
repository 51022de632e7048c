import {
  type ComboboxItem,
  type ComboboxParsedItem,
  Select,
  type SelectProps,
} from "@mantine/core";
import { type ReactNode, useState } from "react";
import { contains } from "../../shared/search/fold";
import { Panel } from "../ui/dialog";

/** The props of a form that creates something, from what takes the result. */
type Done = <E extends { id: string }>(
  take: ((entity: E) => void) | undefined,
) => { onClose: () => void; onMade: (entity: E) => void };

export interface ChoiceProps extends Omit<SelectProps<string>, "data" | "filter" | "onChange"> {
  data: readonly ComboboxItem<string>[];
  onChange?: (id: string | null) => void;
  /** Creates what the choice lacks. Absent if the user may not. */
  create?: false | { label: string; form: (done: Done) => ReactNode };
}

/** The option that creates something. Ids are never like this. */
const creates = "+";

const isItem = (item: ComboboxParsedItem): item is ComboboxItem => "value" in item;

/** A select whose last option creates what it lacks, in a form over the one that it is part of. */
export function Choice({ data, create, onChange, ...props }: ChoiceProps) {
  const [creating, setCreating] = useState<true>();
  const close = () => setCreating(undefined);
  return (
    <>
      <Select
        {...props}
        data={[...data, ...(create ? [{ value: creates, label: `+ ${create.label}` }] : [])]}
        filter={({ options, search }) =>
          options.filter(
            (one) => isItem(one) && (one.value === creates || contains(one.label, search)),
          )
        }
        onChange={(value) => (value === creates ? setCreating(true) : onChange?.(value))}
      />
      {create && (
        <Panel of={creating} title={() => create.label} width={500} onClose={close}>
          {() =>
            create.form((take) => ({
              onClose: close,
              onMade: (made) => (take ? take(made) : onChange?.(made.id)),
            }))
          }
        </Panel>
      )}
    </>
  );
}

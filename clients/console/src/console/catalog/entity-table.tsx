import { Button, Group, Text } from "@mantine/core";
import { type Icon, IconPencil, IconPlus } from "@tabler/icons-react";
import { type ComponentType, type ReactNode, useState } from "react";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { Card, State, Tag } from "../../shared/ui";
import { type Column, DataTable } from "../../shared/ui/data-table";
import { Panel } from "../ui/dialog";
import { Dimmed, Inline, LinkButton } from "../ui/text";
import { catalogTexts } from "./texts";

interface Entity {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

/** The props of the form of an entity. */
export interface FormProps<E> {
  /** undefined creates one. */
  readonly entity: E | undefined;
  readonly onClose: () => void;
}

/** The props of a form that other forms open, too. */
export interface MakingProps<E> extends FormProps<E> {
  /** Takes what was created. */
  readonly onMade?: (entity: E) => void;
}

interface Props<T extends Entity> {
  entities: readonly T[];
  columns: readonly Column<T>[];
  /** Whether archived entities are shown. */
  archived: boolean;
  /** Label of the button that creates one. */
  add: string;
  none: string;
  noneNote: string;
  icon: Icon;
  Form: ComponentType<FormProps<T>>;
  note?: ReactNode;
  /** Text below the name. */
  subtitle?: (entity: T) => ReactNode;
  /** Texts for archived entities: the tag of one, and the count of hidden ones. */
  archivedLabel?: string;
  hidden?: (n: number) => string;
  permission?: string;
}

/** A table of entities of one type, with a drawer to create and edit them. */
export function EntityTable<T extends Entity>(props: Props<T>) {
  const t = useText(catalogTexts);
  const can = useCan();
  const { entities, columns, archived, add, Form, note, subtitle } = props;
  const { archivedLabel = t.catalog.archived, hidden = t.catalog.hidden } = props;
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
  const shown = entities.filter(({ active }) => active || archived);
  const left = entities.length - shown.length;
  const entityOf = (open: string) => entities.find(({ id }) => id === open);
  const canWrite = can(props.permission ?? "catalog.write");
  const begin = canWrite && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen("new")}>
      {add}
    </Button>
  );
  return (
    <>
      <Group gap="10px 20px" justify="space-between" mb={12} fz="sm">
        <Dimmed>{note}</Dimmed>
        {shown.length > 0 && begin}
      </Group>
      <Card bare>
        <DataTable
          rows={shown}
          rowProps={({ active }) => (active ? {} : { c: "dimmed" })}
          empty={
            <State icon={props.icon} title={props.none} note={props.noneNote} action={begin} />
          }
          columns={[
            {
              title: t.fields.name,
              show: (entity) => (
                <>
                  <Inline gap={8} wrap="nowrap">
                    {canWrite ? (
                      <LinkButton onClick={() => setOpen(entity.id)}>{entity.name}</LinkButton>
                    ) : (
                      <strong>{entity.name}</strong>
                    )}
                    {!entity.active && <Tag>{archivedLabel}</Tag>}
                  </Inline>
                  {subtitle?.(entity)}
                </>
              ),
            },
            ...columns,
            canWrite && {
              label: t.actions.actions,
              ta: "right",
              visibleFrom: "sm",
              show: ({ id, name }) => (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  leftSection={<IconPencil size={14} />}
                  aria-label={`${t.actions.edit}: ${name}`}
                  onClick={() => setOpen(id)}
                >
                  {t.actions.edit}
                </Button>
              ),
            },
          ]}
        />
      </Card>
      {left > 0 && (
        <Text c="dimmed" fz="xs" mt={8} mb={0} mx={2}>
          {hidden(left)}
        </Text>
      )}
      <Panel of={open} title={(id) => entityOf(id)?.name ?? add} width={500} onClose={close}>
        {(id) => <Form entity={entityOf(id)} onClose={close} />}
      </Panel>
    </>
  );
}

import { Button, Drawer } from "@mantine/core";
import { type Icon, IconPencil, IconPlus } from "@tabler/icons-react";
import { Fragment, type ReactNode, useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useLast } from "../../shared/last";
import { useCan } from "../../shared/me";
import { State, Tag } from "../../shared/ui";

interface Thing {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

interface ColumnOf<T> {
  readonly title: string;
  readonly show: (thing: T) => ReactNode;
  readonly right?: boolean;
}

interface Props<T extends Thing> {
  things: readonly T[];
  columns: readonly ColumnOf<T>[];
  /** Whether archived entities are shown. */
  archived: boolean;
  /** Label of the button that creates one. */
  add: string;
  none: string;
  noneNote: string;
  icon: Icon;
  form: (thing: T | undefined, close: () => void) => ReactNode;
  note?: ReactNode;
  /** Text below the name. */
  about?: (thing: T) => ReactNode;
  /** Texts for archived entities: the tag of one, and the count of hidden ones. */
  gone?: string;
  hidden?: (n: number) => string;
  permission?: string;
}

/** A table of entities of one type, with a drawer to create and edit them. */
export function Listed<T extends Thing>(props: Props<T>) {
  const d = useDesk();
  const can = useCan();
  const { things, archived, add, form, note, hidden = d.catalog.hidden } = props;
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
  const shown = things.filter(({ active }) => active || archived);
  const left = things.length - shown.length;
  const [last, turn] = useLast(open);
  const edited = things.find(({ id }) => id === last);
  const writes = can(props.permission ?? "catalog.write");
  const adding = writes && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen("new")}>
      {add}
    </Button>
  );
  return (
    <>
      <div className="list-head">
        <span className="muted">{note}</span>
        {adding}
      </div>
      <div className="card">
        {shown.length === 0 ? (
          <State icon={props.icon} title={props.none}>
            {props.noneNote}
          </State>
        ) : (
          <Rows {...props} things={shown} onEdit={writes ? setOpen : undefined} />
        )}
      </div>
      {left > 0 && (
        <p className="muted" style={{ fontSize: 12, margin: "8px 2px 0" }}>
          {hidden(left)}
        </p>
      )}
      <Drawer opened={open !== undefined} onClose={close} title={edited?.name ?? add} size={500}>
        <Fragment key={turn}>{form(edited, close)}</Fragment>
      </Drawer>
    </>
  );
}

function Rows<T extends Thing>({
  things,
  columns,
  about,
  gone,
  onEdit,
}: Props<T> & { onEdit: ((id: string) => void) | undefined }) {
  const t = useText();
  const d = useDesk();
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.fields.name}</th>
            {columns.map(({ title, right }) => (
              <th scope="col" key={title} className={right ? "right" : undefined}>
                {title}
              </th>
            ))}
            {onEdit && <th scope="col" className="wide-only" aria-label={t.actions.actions} />}
          </tr>
        </thead>
        <tbody>
          {things.map((thing) => (
            <tr key={thing.id} className={thing.active ? undefined : "archived"}>
              <td>
                <span className="thing">
                  {onEdit ? (
                    <button type="button" className="as-link" onClick={() => onEdit(thing.id)}>
                      {thing.name}
                    </button>
                  ) : (
                    <strong>{thing.name}</strong>
                  )}
                  {!thing.active && <Tag>{gone ?? d.catalog.archived}</Tag>}
                </span>
                {about?.(thing)}
              </td>
              {columns.map(({ title, show, right }) => (
                <td key={title} className={right ? "right num" : undefined}>
                  {show(thing)}
                </td>
              ))}
              {onEdit && (
                <td className="right wide-only">
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    leftSection={<IconPencil size={14} />}
                    aria-label={`${t.actions.edit}: ${thing.name}`}
                    onClick={() => onEdit(thing.id)}
                  >
                    {t.actions.edit}
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

import { Button, Drawer } from "@mantine/core";
import { type Icon, IconPencil, IconPlus } from "@tabler/icons-react";
import { Fragment, type ReactNode, useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useLast } from "../../shared/last";
import { useCan } from "../../shared/me";
import { State, Tag } from "../../shared/ui";

interface Entity {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

interface ColumnOf<T> {
  readonly title: string;
  readonly show: (entity: T) => ReactNode;
  readonly right?: boolean;
}

interface Props<T extends Entity> {
  entities: readonly T[];
  columns: readonly ColumnOf<T>[];
  /** Whether archived entities are shown. */
  archived: boolean;
  /** Label of the button that creates one. */
  add: string;
  none: string;
  noneNote: string;
  icon: Icon;
  form: (entity: T | undefined, close: () => void) => ReactNode;
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
  const d = useDesk();
  const can = useCan();
  const { entities, archived, add, form, note, hidden = d.catalog.hidden } = props;
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
  const shown = entities.filter(({ active }) => active || archived);
  const left = entities.length - shown.length;
  const [last, turn] = useLast(open);
  const edited = entities.find(({ id }) => id === last);
  const canWrite = can(props.permission ?? "catalog.write");
  const addButton = canWrite && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen("new")}>
      {add}
    </Button>
  );
  return (
    <>
      <div className="list-head">
        <span className="muted">{note}</span>
        {addButton}
      </div>
      <div className="card">
        {shown.length === 0 ? (
          <State icon={props.icon} title={props.none}>
            {props.noneNote}
          </State>
        ) : (
          <Rows {...props} entities={shown} onEdit={canWrite ? setOpen : undefined} />
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

function Rows<T extends Entity>({
  entities,
  columns,
  subtitle,
  archivedLabel,
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
          {entities.map((entity) => (
            <tr key={entity.id} className={entity.active ? undefined : "archived"}>
              <td>
                <span className="entity">
                  {onEdit ? (
                    <button type="button" className="as-link" onClick={() => onEdit(entity.id)}>
                      {entity.name}
                    </button>
                  ) : (
                    <strong>{entity.name}</strong>
                  )}
                  {!entity.active && <Tag>{archivedLabel ?? d.catalog.archived}</Tag>}
                </span>
                {subtitle?.(entity)}
              </td>
              {columns.map(({ title, show, right }) => (
                <td key={title} className={right ? "right num" : undefined}>
                  {show(entity)}
                </td>
              ))}
              {onEdit && (
                <td className="right wide-only">
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    leftSection={<IconPencil size={14} />}
                    aria-label={`${t.actions.edit}: ${entity.name}`}
                    onClick={() => onEdit(entity.id)}
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

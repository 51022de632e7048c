import { Button, Drawer } from "@mantine/core";
import { IconPencil, IconPlus } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCan } from "../../shared/root";
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

/** Things of one kind in a table, and a drawer in which one is made or edited. */
export function Listed<T extends Thing>({
  things,
  columns,
  archived,
  add,
  none,
  noneNote,
  icon,
  form,
  note,
  permission = "catalog.write",
}: {
  things: readonly T[];
  columns: readonly ColumnOf<T>[];
  /** Whether what is archived is shown. */
  archived: boolean;
  add: string;
  none: string;
  noneNote: string;
  icon: ReactNode;
  form: (thing: T | undefined, close: () => void) => ReactNode;
  note?: ReactNode;
  permission?: string;
}) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
  const shown = things.filter(({ active }) => active || archived);
  const hidden = things.length - shown.length;
  const edited = things.find(({ id }) => id === open);
  const writes = can(permission);
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
          <State icon={icon} title={none}>
            {noneNote}
          </State>
        ) : (
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
                  {writes && <th scope="col" aria-label={t.actions.actions} />}
                </tr>
              </thead>
              <tbody>
                {shown.map((thing) => (
                  <tr key={thing.id} className={thing.active ? undefined : "archived"}>
                    <td>
                      <span className="thing">
                        <strong>{thing.name}</strong>
                        {!thing.active && <Tag>{d.catalog.archived}</Tag>}
                      </span>
                    </td>
                    {columns.map(({ title, show, right }) => (
                      <td key={title} className={right ? "right num" : undefined}>
                        {show(thing)}
                      </td>
                    ))}
                    {writes && (
                      <td className="right">
                        <Button
                          variant="subtle"
                          size="compact-sm"
                          leftSection={<IconPencil size={14} />}
                          aria-label={`${t.actions.edit}: ${thing.name}`}
                          onClick={() => setOpen(thing.id)}
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
        )}
      </div>
      {hidden > 0 && (
        <p className="muted" style={{ fontSize: 12, margin: "8px 2px 0" }}>
          {d.catalog.hidden(hidden)}
        </p>
      )}
      <Drawer opened={open !== undefined} onClose={close} title={edited?.name ?? add} size={500}>
        {open !== undefined && form(edited, close)}
      </Drawer>
    </>
  );
}

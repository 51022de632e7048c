import { Button, type ButtonProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Icon } from "@tabler/icons-react";
import { createContext, Fragment, type ReactNode, use, useEffect, useState } from "react";
import { Form, FormEnd, FormError, useSubmit } from "../../shared/forms/form";
import { useLast } from "../../shared/state/use-last";
import { Drawer, Modal } from "../../shared/ui/overlays";

/** A button that opens a form in a drawer, or in a modal dialog. */
export function DialogButton({
  label,
  title = label,
  icon: Sign,
  modal = false,
  width,
  children,
  ...props
}: Omit<ButtonProps, "children"> & {
  label: string;
  title?: string;
  icon?: Icon;
  modal?: boolean;
  width?: number;
  "aria-label"?: string;
  children: (close: () => void) => ReactNode;
}) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button {...(Sign && { leftSection: <Sign size={16} /> })} {...props} onClick={open}>
        {label}
      </Button>
      <Panel
        of={opened || undefined}
        title={() => title}
        modal={modal}
        {...(width && { width })}
        onClose={close}
      >
        {() => children(close)}
      </Panel>
    </>
  );
}

/** Tells the panel below another one that it is covered. */
const CoverContext = createContext<(covered: boolean) => void>(() => undefined);

/**
 * A drawer, or a modal dialog, about something. It still shows it while it closes. A form in it can
 * open another one: Escape then closes only that.
 */
export function Panel<T>({
  of,
  title,
  modal = false,
  width = modal ? 440 : 460,
  onClose,
  children,
}: {
  /** undefined closes it. */
  of: T | undefined;
  title: (of: T) => ReactNode;
  modal?: boolean;
  width?: number;
  onClose: () => void;
  children: (of: T) => ReactNode;
}) {
  const [last, turn] = useLast(of);
  const [covered, setCovered] = useState(false);
  const cover = use(CoverContext);
  const opened = of !== undefined;
  useEffect(() => {
    if (!opened) return;
    cover(true);
    return () => cover(false);
  }, [cover, opened]);
  const Dialog = modal ? Modal : Drawer;
  return (
    <Dialog
      opened={opened}
      closeOnEscape={!covered}
      onClose={onClose}
      title={last !== undefined && title(last)}
      size={width}
    >
      <CoverContext value={setCovered}>
        {last !== undefined && <Fragment key={turn}>{children(last)}</Fragment>}
      </CoverContext>
    </Dialog>
  );
}

/** A form that makes a call and closes. Its errors are shown in it. */
export function CallForm({
  act,
  run,
  disabled = false,
  zone,
  cancel,
  aside,
  onClose,
  children,
}: {
  /** Label of the submit button. */
  act: string;
  /** The form stays open if it returns false. */
  run: () => Promise<unknown>;
  disabled?: boolean;
  /** Time zone of times in error messages. Default: the browser's. */
  zone?: string | undefined;
  /** Label of the button that closes the form. */
  cancel?: string;
  /** Further inputs, shown at the left of the buttons. */
  aside?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const { error, busy, onSubmit } = useSubmit(async () => {
    if ((await run()) !== false) onClose();
  });
  return (
    <Form onSubmit={onSubmit}>
      {children}
      <FormError error={error} zone={zone} />
      <FormEnd act={act} busy={busy} disabled={disabled} cancel={cancel} onCancel={onClose}>
        {aside}
      </FormEnd>
    </Form>
  );
}

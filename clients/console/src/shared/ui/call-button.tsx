import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { Button, type ButtonProps } from "@mantine/core";
import { type CallOptions, useCall } from "../api/calls";

/** A button that makes a call. */
export function CallButton<I extends DescMessage, O extends DescMessage>({
  method,
  input,
  done,
  ask,
  onDone,
  ...props
}: ButtonProps &
  Omit<CallOptions<O>, "quiet"> & {
    method: DescMethodUnary<I, O>;
    input: MessageInitShape<I>;
    onDone?: () => void;
    "aria-label"?: string;
  }) {
  const { run, busy } = useCall(method, { done, ask });
  const click = async () => (await run(input)) && onDone?.();
  return <Button loading={busy} onClick={() => void click()} {...props} />;
}

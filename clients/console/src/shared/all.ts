import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  toJsonString,
} from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";

interface Page {
  readonly nextPageToken: string;
}

interface Options {
  enabled?: boolean;
  staleTime?: number;
  refetchInterval?: number;
  refetchOnWindowFocus?: "always";
  keep?: boolean;
}

/** The most items that a page shows. */
const most = 5000;

/** Reads all pages of a list. */
export function useAll<I extends DescMessage, O extends DescMessage, T>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  items: (answer: MessageShape<O>) => readonly T[],
  { keep, ...options }: Options = {},
): UseQueryResult<readonly T[]> {
  const transport = useTransport();
  const message = create(method.input, input);
  return useQuery<readonly T[]>({
    queryKey: ["all", method.parent.typeName, method.name, toJsonString(method.input, message)],
    queryFn: async ({ signal }) => {
      const all: T[] = [];
      for (let pageToken = ""; ; ) {
        const page = { ...message, pageSize: 500, pageToken } as MessageInitShape<I>;
        const answer = await callUnaryMethod(transport, method, page, { signal });
        all.push(...items(answer));
        pageToken = (answer as unknown as Page).nextPageToken;
        if (!pageToken || all.length >= most) return all;
      }
    },
    ...(keep && { placeholderData: keepPreviousData }),
    ...options,
  });
}

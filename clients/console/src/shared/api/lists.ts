import { all, type ListMethod } from "@berthhq/client";
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type MessageInitShape,
  type MessageShape,
  toJsonString,
} from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import {
  keepPreviousData,
  type QueryClient,
  type UseQueryResult,
  useQuery,
} from "@tanstack/react-query";
import type { Answers } from "../start/expect-user";

export type Page<O extends DescMessage> = MessageShape<O> & { nextPageToken: string };
type List<O extends DescMessage> = ListMethod<{ pageToken?: string; pageSize: number }, Page<O>>;

/** Options of a query. `keep` shows the previous answer until the next one is here. */
export interface ListOptions {
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
  ...[method, input, items, { keep, ...options } = {}]: AllOf<I, O, T>
): UseQueryResult<readonly T[]> {
  const transport = useTransport();
  const message = create(method.input, input);
  return useQuery<readonly T[]>({
    queryKey: keyOf(method, message),
    queryFn: async ({ signal }) => {
      const list = ((page: MessageInitShape<I>) =>
        callUnaryMethod(transport, method, page, { signal })) as unknown as List<O>;
      const found: T[] = [];
      const pages = all(list, { ...message, pageSize: 500 }, items);
      for await (const item of pages) if (found.push(item) >= most) break;
      return found;
    },
    ...(keep && { placeholderData: keepPreviousData }),
    ...options,
  });
}

/** What useAll reads. */
export type AllOf<I extends DescMessage, O extends DescMessage, T> = [
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  items: (answer: MessageShape<O>) => readonly T[],
  options?: ListOptions,
];

const keyOf = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  message: MessageShape<I>,
) => ["all", method.parent.typeName, method.name, toJsonString(method.input, message)];

/** Stores the answer to a call of the first script for useAll, if it has all pages. */
export function seedAll<I extends DescMessage, O extends DescMessage, T>(
  queries: QueryClient,
  answers: Answers,
  ...[method, input, items]: AllOf<I, O, T>
): void {
  const answer = answers.of.get(`${method.parent.name}/${method.name}`);
  if (answer === undefined) return;
  const page = fromJson(method.output, answer, { ignoreUnknownFields: true }) as Page<O>;
  if (page.nextPageToken) return;
  queries.setQueryData(keyOf(method, create(method.input, input)), items(page));
}

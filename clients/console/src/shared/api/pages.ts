import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  toJsonString,
} from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import {
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from "@tanstack/react-query";
import type { ListOptions, Page } from "./lists";

/** Reads a list page by page. The data are the items of all pages that were read. */
export function usePages<I extends DescMessage, O extends DescMessage, T>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  items: (page: Page<O>) => readonly T[],
  { keep, ...options }: ListOptions = {},
) {
  const transport = useTransport();
  const message = create(method.input, input);
  return useInfiniteQuery({
    queryKey: ["pages", method.parent.typeName, method.name, toJsonString(method.input, message)],
    initialPageParam: "",
    queryFn: async ({ pageParam: pageToken, signal }) => {
      const page = await callUnaryMethod(transport, method, { ...message, pageToken }, { signal });
      return page as Page<O>;
    },
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    select: ({ pages }) => pages.flatMap(items),
    ...(keep && { placeholderData: keepPreviousData }),
    ...options,
  });
}

/** The items of all pages that were read. */
export type Pages<T> = UseInfiniteQueryResult<T[]>;

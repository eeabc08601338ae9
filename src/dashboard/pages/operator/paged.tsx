/** A list that the API gives page by page, with a search above it. For the lists of operators. */
import { Button, Center, Stack } from '@mantine/core';
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded } from '../../parts/loaded.tsx';

/** Rows at a time. */
export const PAGE_ROWS = 50;
const AGAIN_MS = 10_000;

interface PagedProps<T> {
  readonly queryKey: QueryKey;
  /** The rows behind this one. */
  readonly ask: (after: string | undefined, signal: AbortSignal) => Promise<readonly T[]>;
  /** What the next page begins behind. */
  readonly cursorOf: (row: T) => string;
  readonly children: (rows: readonly T[]) => ReactNode;
}

export function Paged<T>({ queryKey, ask, cursorOf, children }: PagedProps<T>) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => ask(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => {
      const last = page.at(-1);
      return page.length < PAGE_ROWS || last === undefined ? undefined : cursorOf(last);
    },
    refetchInterval: AGAIN_MS,
    placeholderData: (before) => before,
  });
  return (
    <Loaded query={query} lines={8}>
      {({ pages }) => (
        <Stack>
          {children(pages.flat())}
          {query.hasNextPage && (
            <Center>
              <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                Show more
              </Button>
            </Center>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

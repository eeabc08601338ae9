/** Search and pages for lists that the server cuts. */
import { Button, Center, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { countText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';

/** Rows at a time. */
export const PAGE_ROWS = 50;
const AGAIN_MS = 10_000;
/** Who looks for something further down searches for it. */
const MOST_PAGES = 20;

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
    getNextPageParam: (page, pages) => {
      const last = page.at(-1);
      const isEnd = page.length < PAGE_ROWS || pages.length === MOST_PAGES;
      return isEnd || last === undefined ? undefined : cursorOf(last);
    },
    // A reader further down sees a list that stands still: each page would be fetched again.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : AGAIN_MS),
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
          {pages.length === MOST_PAGES && !query.hasNextPage && (
            <Text size="sm" c="dimmed" ta="center">
              The first {countText(PAGE_ROWS * MOST_PAGES)}. Search to find others.
            </Text>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

const TYPING_MS = 250;

/** What is typed, and what of it is asked for: once the typing stops. */
export function useSearch(label: string) {
  const [typed, setTyped] = useState('');
  const [asked] = useDebouncedValue(typed.trim(), TYPING_MS);
  const field = (
    <TextInput
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} />}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      flex="1 1 240px"
      maw={420}
    />
  );
  return { asked, field };
}

/** The page of one thing that its address names: while it is read, when it is not there, and once it is. What was read stays when it can't be read again. */
import { Anchor, Box } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { failureFrom } from '../api/failure.ts';
import { Empty } from './empty.tsx';
import { FailureAlert, Loaded } from './loaded.tsx';
import { Page } from './page.tsx';

interface DetailPageProps<T> {
  readonly query: UseQueryResult<T>;
  /** Heads the page until the thing's own name is known: "Private network". */
  readonly title: string;
  /** The page of the list. */
  readonly list: string;
  /** The whole page of the thing. */
  readonly children: (found: T) => ReactNode;
}

export function DetailPage<T>({ query, title, list, children }: DetailPageProps<T>) {
  if (query.isError && failureFrom(query.error).status === 404) return <Missing title={title} list={list} />;
  if (query.data !== undefined)
    return (
      <>
        {query.isError && (
          <Box mb="md">
            <FailureAlert error={query.error} again={query.refetch} />
          </Box>
        )}
        {children(query.data)}
      </>
    );
  return (
    <Page title={title}>
      <Loaded query={query}>{() => null}</Loaded>
    </Page>
  );
}

interface MissingProps {
  /** "Private network" */
  readonly title: string;
  /** The page of the list. */
  readonly list: string;
}

/** The page of a thing that is not there, or not any more: the way back to those that are. */
function Missing({ title, list }: MissingProps) {
  const what = title.toLowerCase();
  return (
    <Page title={`${title} not found`}>
      <Empty
        icon={IconArrowLeft}
        title={`This ${what} does not exist, or was deleted`}
        action={
          <Anchor component={Link} href={list}>
            All {what}s
          </Anchor>
        }
      />
    </Page>
  );
}

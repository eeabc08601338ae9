/** The page of a thing that is not there, or not any more: the way back to those that are. */
import { Anchor } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Empty } from './empty.tsx';
import { Page } from './page.tsx';

interface MissingProps {
  /** "private network" */
  readonly what: string;
  /** The page of the list. */
  readonly list: string;
}

export function Missing({ what, list }: MissingProps) {
  return (
    <Page title={`No such ${what}`}>
      <Empty
        icon={IconArrowLeft}
        title={`This ${what} is not there, or not any more`}
        action={
          <Anchor component={Link} href={list}>
            All {what}s
          </Anchor>
        }
      />
    </Page>
  );
}

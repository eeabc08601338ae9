/** A section below the heading of a request, folded or not, and keys for its rows. */
import { Group, Stack, Title } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** One subject of a request, below the request's own heading. */
export function Section({ title, actions, children }: SectionProps) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Group justify="space-between" gap="xs" mih={28}>
        <Title order={3} size="h6">
          {title}
        </Title>
        {actions !== undefined && <Group gap={4}>{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

interface FoldedProps extends SectionProps {
  /** What the browser remembers the choice by: it holds for each request. */
  readonly fold: string;
  /** How much is in it. */
  readonly count: number;
  /** Until the user has chosen. */
  readonly isFirstOpen?: boolean;
}

/** A section that is opened by its heading, and stays so for the next request. */
export function FoldedSection({ title, actions, children, fold, count, isFirstOpen = false }: FoldedProps) {
  const [isOpen, setOpen] = useLocalStorage({
    key: `culvert-inspector-${fold}`,
    defaultValue: isFirstOpen,
    getInitialValueInEffect: false,
  });
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Group justify="space-between" gap="xs" mih={28}>
        <Title order={3} size="h6">
          <button type="button" className="culvert-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <span className="culvert-json-caret" aria-hidden="true">
              {isOpen ? '▾' : '▸'}
            </span>
            {title} <span className="culvert-fold-count">{count}</span>
          </button>
        </Title>
        {isOpen && actions !== undefined && <Group gap={4}>{actions}</Group>}
      </Group>
      {isOpen && children}
    </Stack>
  );
}

/** Rows that may be equal to one another, and never change places: their number tells them apart. */
export function numbered<T>(rows: readonly T[]): ReadonlyArray<{ readonly at: number; readonly row: T }> {
  return rows.map((row, at) => ({ at, row }));
}

/** A section below the heading of a request, and keys for its rows. */
import { Group, Stack, Title } from '@mantine/core';
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

/** Rows that may be equal to one another, and never change places: their number tells them apart. */
export function numbered<T>(rows: readonly T[]): ReadonlyArray<{ readonly at: number; readonly row: T }> {
  return rows.map((row, at) => ({ at, row }));
}

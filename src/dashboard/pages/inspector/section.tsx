/** One subject of a request, below the request's own heading. */
import { Group, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

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

/** A card with a heading: one subject of a page. */
import { Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PanelProps {
  readonly title: string;
  readonly about?: ReactNode;
  /** Buttons beside the heading. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

export function Panel({ title, about, actions, children }: PanelProps) {
  return (
    <Card withBorder component="section" aria-label={title} className="culvert-panel">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs" align="flex-start">
          <div>
            <Title order={2} size="h5">
              {title}
            </Title>
            {about !== undefined && (
              <Text size="sm" c="dimmed">
                {about}
              </Text>
            )}
          </div>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Card>
  );
}

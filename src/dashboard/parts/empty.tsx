/** The placeholder of an empty list, with the way to create the first entry. */
import { Card, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface EmptyProps {
  readonly icon: Icon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export function Empty({ icon: Sign, title, children, action }: EmptyProps) {
  return (
    <Card withBorder padding="xl">
      <Stack align="center" gap="sm" ta="center">
        <ThemeIcon size={44} radius="xl" variant="light" aria-hidden>
          <Sign size={24} />
        </ThemeIcon>
        <Title order={2} size="h5">
          {title}
        </Title>
        {children !== undefined && (
          <Text c="dimmed" size="sm" maw={520} component="div">
            {children}
          </Text>
        )}
        {action}
      </Stack>
    </Card>
  );
}

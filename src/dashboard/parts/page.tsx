/** The frame of every page inside the shell: its title (also of the tab), what it is about, its main actions, and help. */
import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useServerName } from '../api/auth-options.ts';
import { HelpLink } from './links.tsx';

interface PageProps {
  readonly title: string;
  /** One sentence for people who see the page for the first time. */
  readonly about?: ReactNode;
  /** The page's main buttons. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, about, actions, children }: PageProps) {
  const name = useServerName();
  useEffect(() => {
    document.title = `${title} - ${name}`;
  }, [title, name]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="md">
        <Box className="culvert-page-words">
          <Title order={1} size="h3" className="culvert-wrap">
            {title}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" size="sm" mt={4} component="div">
              {about}
            </Text>
          )}
        </Box>
        <Group gap="xs">
          {actions}
          <HelpLink />
        </Group>
      </Group>
      {children}
    </Stack>
  );
}

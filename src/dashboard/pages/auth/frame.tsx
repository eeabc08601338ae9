/** The frame of authentication pages and of pages opened by a link: one column that fits a phone. */
import { Box, Card, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useServerName } from '../../api/auth-options.ts';

interface FrameProps {
  /** Of the tab. */
  readonly title: string;
  /** The page's heading, where its parts have headings of their own. */
  readonly heading?: string;
  readonly children: ReactNode;
}

export function Frame({ title, heading, children }: FrameProps) {
  const name = useServerName();
  useEffect(() => {
    document.title = `${title} - ${name}`;
  }, [title, name]);
  return (
    <Box component="main" className="culvert-auth">
      <Card withBorder padding="xl" className="culvert-auth-card">
        <Stack gap="lg">
          <Text fw={700} className="culvert-brand">
            {name}
          </Text>
          {heading !== undefined && (
            <Title order={1} size="h3">
              {heading}
            </Title>
          )}
          {children}
        </Stack>
      </Card>
    </Box>
  );
}

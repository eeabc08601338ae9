/** One thing that is so, under its name; several stand in a grid. */
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text size="sm" component="div" className="culvert-wrap culvert-number">
        {children}
      </Text>
    </div>
  );
}

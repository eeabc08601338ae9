/** A figure in a card of its own: what it counts, the number, and a line about it. A row of them heads a page. */
import { Card, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

interface FigureProps {
  readonly title: string;
  readonly value: ReactNode;
  /** Where there is more about it: then the card leads there. */
  readonly href?: string;
  readonly children: ReactNode;
}

export function Figure({ title, value, href, children }: FigureProps) {
  const inside = (
    <>
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <Text fz={26} fw={600} lh={1.25} className="culvert-number">
        {value}
      </Text>
      <Text size="xs" c="dimmed" component="div" className="culvert-number">
        {children}
      </Text>
    </>
  );
  if (href === undefined)
    return (
      <Card withBorder padding="md">
        {inside}
      </Card>
    );
  return (
    <Card withBorder padding="md" component={Link} href={href} className="culvert-card-link">
      {inside}
    </Card>
  );
}

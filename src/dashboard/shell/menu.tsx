/** The menu of all pages. */
import { AppShell, NavLink, ScrollArea, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { useAccount } from '../api/context.tsx';
import { MENU } from '../pages.ts';

export function Menu() {
  const [location] = useLocation();
  const { is_superadmin: isOperator } = useAccount();
  const groups = MENU.map((group) => ({
    ...group,
    entries: group.entries.filter(({ forOperators }) => forOperators !== true || isOperator),
  })).filter(({ entries }) => entries.length > 0);
  return (
    <AppShell.Section grow component={ScrollArea} type="hover" scrollbarSize={6}>
      {groups.map(({ title, entries }) => (
        <div key={title} className="culvert-menu-group">
          {title !== '' && (
            <Text size="xs" c="dimmed" fw={600} px="sm" py={4}>
              {title}
            </Text>
          )}
          {entries.map(({ href, title: words, icon: Sign }) => {
            const isHere = href === '/' ? location === '/' : location === href || location.startsWith(`${href}/`);
            return (
              <NavLink
                key={href}
                component={Link}
                href={href}
                label={words}
                active={isHere}
                aria-current={isHere ? 'page' : undefined}
                leftSection={<Sign size={18} stroke={1.6} aria-hidden />}
              />
            );
          })}
        </div>
      ))}
    </AppShell.Section>
  );
}

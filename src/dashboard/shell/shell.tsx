/** The frame around every page: menu, account and organization. */
import { Alert, AppShell, Burger, Group, NavLink, ScrollArea, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useServerName } from '../api/auth-options.ts';
import { useAccount } from '../api/context.tsx';
import { useTimeZone } from '../parts/time/time-zone.ts';
import { loadAllWhenIdle, MENU } from '../pages.ts';
import { menuFor } from './menu.ts';
import { AccountMenu } from './account-menu.tsx';
import { AttentionMark } from './attention-mark.tsx';
import { OrgSwitch } from './org-switch.tsx';
import { PaletteButton } from './palette/palette-button.tsx';

export function Shell({ children }: { readonly children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  // Mantine's `sm`: below it the menu lies over the page, and is out of reach while it is shut.
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  const main = useRef<HTMLElement>(null);
  const zone = useTimeZone();
  const [location] = useLocation();
  const first = useRef(location);
  useEffect(() => loadAllWhenIdle(), []);
  // Another page is at hand: the menu of a phone gives way, and the keyboard and the screen reader begin at its top.
  useEffect(() => {
    if (first.current === location) return;
    first.current = location;
    close();
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [location, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <AppShell.Header>
        <a className="culvert-skip" href="#main">
          Skip to content
        </a>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
              aria-expanded={opened}
            />
            <Text fw={700} className="culvert-brand" truncate>
              {useServerName()}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap" miw={0}>
            <PaletteButton />
            <OrgSwitch />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages" inert={isNarrow && !opened}>
        <Menu />
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1}>
        {/* Another time zone: everything is drawn anew. */}
        <div className="culvert-page" key={zone}>
          <Approval />
          {children}
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

const APPROVAL: Readonly<Record<string, string>> = {
  pending: 'An operator of this server must approve your organization before you can publish services.',
  suspended: "Your organization is suspended and can't publish services. Ask an operator of this server.",
};

function Approval() {
  const words = APPROVAL[useAccount().active_org.approval_status];
  if (words === undefined) return null;
  return (
    <Alert color="yellow" mb="md" role="status">
      {words}
    </Alert>
  );
}

/** The menu of all pages. */
function Menu() {
  const [location] = useLocation();
  const groups = menuFor(MENU, useAccount());
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
                rightSection={href === '/' ? <AttentionMark /> : undefined}
              />
            );
          })}
        </div>
      ))}
    </AppShell.Section>
  );
}

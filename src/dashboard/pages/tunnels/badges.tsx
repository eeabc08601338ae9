/** Badges of a tunnel. */
import { Badge, Group, Text } from '@mantine/core';
import { IconFilter, IconLock, IconTerminal2, IconUserCheck } from '@tabler/icons-react';
import type { Tunnel } from '../../api/types.ts';
import { StateBadge } from '../../parts/state-badge.tsx';

type Guards = Pick<Tunnel, 'authEnabled' | 'edgeAuthEnabled' | 'policyEnabled' | 'agentFlagsEnabled'>;

const GUARDS = [
  { flag: 'authEnabled', word: 'Password', icon: IconLock },
  { flag: 'edgeAuthEnabled', word: 'Login', icon: IconUserCheck },
  { flag: 'policyEnabled', word: 'Policy', icon: IconFilter },
  { flag: 'agentFlagsEnabled', word: 'Agent flags', icon: IconTerminal2 },
] as const;

/** What stands between visitors and a service, at a glance. */
export function GuardBadges({ tunnel, none }: { readonly tunnel: Guards; readonly none: string }) {
  const on = GUARDS.filter(({ flag }) => tunnel[flag]);
  if (on.length === 0)
    return (
      <Text span size="sm" c="dimmed">
        {none}
      </Text>
    );
  return (
    <Group gap={4}>
      {on.map(({ flag, word, icon: Sign }) => (
        <Badge
          key={flag}
          variant="default"
          tt="none"
          fw={500}
          leftSection={<Sign size={12} aria-hidden />}
          className="culvert-badge"
        >
          {word}
        </Badge>
      ))}
    </Group>
  );
}

/** Whether something that can be put on a tunnel is on it. */
export function OnOff({ on }: { readonly on: boolean }) {
  return <StateBadge tone={on ? 'good' : 'quiet'}>{on ? 'On' : 'Off'}</StateBadge>;
}

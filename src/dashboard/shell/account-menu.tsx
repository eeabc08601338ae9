/** The account menu: the signed-in user, the color scheme, and logout. */
import { ActionIcon, Menu, Text, useMantineColorScheme } from '@mantine/core';
import {
  IconApi,
  IconBook,
  IconCheck,
  IconClock,
  IconDeviceDesktop,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
} from '@tabler/icons-react';
import { Link } from 'wouter';
import { useAccount, useApi } from '../api/context.tsx';
import { say, sayFailure } from '../parts/action.ts';
import { localZoneText, setTimeZone, useTimeZone } from '../parts/time/time-zone.ts';
import { useLeaving } from '../api/leaving.ts';

export function AccountMenu() {
  const { user } = useAccount();
  const { url } = useApi();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const zone = useTimeZone();
  const leave = useLeaving();
  const zones = [
    { value: 'local', title: localZoneText() },
    { value: 'utc', title: 'UTC' },
  ] as const;
  const schemes = [
    { value: 'auto', title: 'Match system', icon: IconDeviceDesktop },
    { value: 'light', title: 'Light', icon: IconSun },
    { value: 'dark', title: 'Dark', icon: IconMoon },
  ] as const;
  return (
    <Menu position="bottom-end" width={264}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label="Your account">
          <IconUser size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" truncate>
            {user.email}
          </Text>
        </Menu.Label>
        <Menu.Item component={Link} href="/account" leftSection={<IconUser size={16} />}>
          Account
        </Menu.Item>
        <Menu.Item component="a" href={new URL('docs/', url).href} leftSection={<IconBook size={16} />}>
          Documentation
        </Menu.Item>
        <Menu.Item component="a" href={new URL('docs/api/', url).href} leftSection={<IconApi size={16} />}>
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {schemes.map(({ value, title, icon: Sign }) => (
          <Menu.Item
            key={value}
            leftSection={<Sign size={16} />}
            rightSection={colorScheme === value ? <IconCheck size={16} aria-hidden /> : undefined}
            onClick={() => setColorScheme(value)}
            aria-current={colorScheme === value}
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>Times</Menu.Label>
        {zones.map(({ value, title }) => (
          <Menu.Item
            key={value}
            leftSection={<IconClock size={16} />}
            rightSection={zone === value ? <IconCheck size={16} aria-hidden /> : undefined}
            onClick={() => setTimeZone(value)}
            aria-current={zone === value}
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={16} />}
          onClick={() => void leave().then(() => say('You are logged out.'), sayFailure)}
        >
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

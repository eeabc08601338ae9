/** The account menu: the signed-in user, the color scheme, and logout. */
import { ActionIcon, Menu, Text, useMantineColorScheme } from '@mantine/core';
import { IconBook, IconDeviceDesktop, IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useAccount, useApi } from '../api/context.tsx';
import { say, sayFailure } from '../parts/action.ts';
import { useLeaving } from '../api/leaving.ts';

export function AccountMenu() {
  const { user } = useAccount();
  const { url } = useApi();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leave = useLeaving();
  const schemes = [
    { value: 'auto', title: 'Match system', icon: IconDeviceDesktop },
    { value: 'light', title: 'Light', icon: IconSun },
    { value: 'dark', title: 'Dark', icon: IconMoon },
  ] as const;
  return (
    <Menu position="bottom-end" width={240}>
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
        <Menu.Item component="a" href={new URL('docs', url).href} leftSection={<IconBook size={16} />}>
          API reference
        </Menu.Item>
        <Menu.Divider />
        {schemes.map(({ value, title, icon: Sign }) => (
          <Menu.Item
            key={value}
            leftSection={<Sign size={16} />}
            onClick={() => setColorScheme(value)}
            aria-current={colorScheme === value}
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

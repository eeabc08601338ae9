/** The button that adds an action: each kind with a line about what it does, and why it can't be added when it can't. */
import { Button, Menu, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { createElement } from 'react';
import { iconOf } from './kind-icon.ts';
import { type Action, addable, type Kind } from './kinds.ts';

interface AddActionProps {
  readonly actions: readonly Action[];
  readonly protocol: string;
  readonly onAdd: (kind: Kind) => void;
}

export function AddAction({ actions, protocol, onAdd }: AddActionProps) {
  return (
    <Menu position="bottom-start" width={340} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconPlus size={16} />}>
          Add action
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {addable(actions, protocol).map(({ entry: { kind, title, about }, blocked }) => (
          <Menu.Item
            key={kind}
            disabled={blocked !== undefined}
            leftSection={createElement(iconOf(kind), { size: 18 })}
            onClick={() => onAdd(kind)}
          >
            <Text size="sm" fw={500}>
              {title}
            </Text>
            <Text size="xs" c="dimmed">
              {blocked ?? about}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

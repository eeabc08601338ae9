/** The list of shortcuts, and the switch that turns them off. */
import { Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { KEYS, useShortcutsOn } from './shortcuts.ts';

interface HelpProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function ShortcutHelp({ opened, onClose }: HelpProps) {
  const [isOn, setOn] = useShortcutsOn();
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts">
      <Stack gap="sm">
        <Table aria-label="Keyboard shortcuts">
          <Table.Tbody>
            {KEYS.map(({ key, what }) => (
              <Table.Tr key={key}>
                <Table.Th scope="row" w={100}>
                  <Kbd>{key}</Kbd>
                </Table.Th>
                <Table.Td>{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch label="Use single-key shortcuts" checked={isOn} onChange={() => setOn(!isOn)} />
      </Stack>
    </Modal>
  );
}

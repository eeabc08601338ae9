/** The keys of the dashboard, shown by "?". */
import { Group, Kbd, Modal, Stack, Text } from '@mantine/core';

const KEYS: ReadonlyArray<readonly [keys: readonly string[], does: string]> = [
  [['Ctrl', 'K'], 'Search pages, tunnels, keys, members and documentation (on a Mac: Cmd+K)'],
  [['?'], 'Show these keys; in the inspector, the keys of requests'],
  [['Ctrl', 'Z'], 'Undo, while a notice offers it (on a Mac: Cmd+Z)'],
  [['↑', '↓'], 'Move in lists, menus and search results'],
  [['Enter'], 'Open the selected entry'],
  [['Esc'], 'Close a dialog, a menu or the search'],
];

export function KeyList({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts">
      <Stack component="dl" gap="xs" m={0}>
        {KEYS.map(([keys, does]) => (
          <Group key={does} gap="sm" wrap="nowrap" align="flex-start">
            <Text component="dt" size="sm" miw={88}>
              {keys.map((key, index) => (
                <span key={key}>
                  {index > 0 && ' '}
                  <Kbd>{key}</Kbd>
                </span>
              ))}
            </Text>
            <Text component="dd" size="sm" m={0}>
              {does}
            </Text>
          </Group>
        ))}
      </Stack>
    </Modal>
  );
}

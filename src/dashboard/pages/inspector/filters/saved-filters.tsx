/** Filters that the browser keeps by a name. They stay on this device. */
import { ActionIcon, Button, Group, Menu, Modal, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { sayWithUndo } from '../../../parts/action.ts';
import { useMenuDialog } from '../../../parts/dialogs/row-menu.tsx';
import { changedMeanwhile } from '../../../parts/undo/undo.ts';
import { type Filter, filterIn, isFiltered, searchOf } from './filter.ts';
import { readSaved, restored, type Saved, withSaved } from './saved.ts';

const KEY = 'culvert-inspector-filters';

interface SavedFiltersProps {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

export function SavedFilters({ filter, onChange }: SavedFiltersProps) {
  const [saved, setSaved] = useLocalStorage<readonly Saved[]>({
    key: KEY,
    defaultValue: [],
    getInitialValueInEffect: false,
    deserialize: readSaved,
  });
  const [isNaming, naming] = useDisclosure(false);
  const { button, from } = useMenuDialog();
  const remove = (name: string): void => {
    setSaved(saved.filter((one) => one.name !== name));
    sayWithUndo(`Filter ${name} deleted.`, async () => {
      // Read from the browser: this list may be gone by then.
      const all = restored(readSaved(localStorage.getItem(KEY) ?? undefined), { of: saved, name });
      if (all === undefined) throw changedMeanwhile();
      setSaved(all);
    });
  };
  return (
    <>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false} closeOnItemClick>
        <Menu.Target>
          <Tooltip label="Saved filters">
            <ActionIcon ref={button} size={36} variant="default" aria-label="Saved filters">
              <IconBookmark size={16} />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.length === 0 && <Menu.Label>No saved filters</Menu.Label>}
          {saved.map(({ name, search }) => (
            <Menu.Item key={name} onClick={() => onChange(filterIn(search))} className="culvert-foreign">
              {name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item disabled={!isFiltered(filter)} onClick={from(naming.open)}>
            Save filters
          </Menu.Item>
          {saved.length > 0 && (
            <>
              <Menu.Label>Delete</Menu.Label>
              {saved.map(({ name }) => (
                <Menu.Item
                  key={name}
                  leftSection={<IconTrash size={14} />}
                  onClick={() => remove(name)}
                  aria-label={`Delete ${name}`}
                >
                  {name}
                </Menu.Item>
              ))}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isNaming} onClose={naming.close} title="Save filters">
        {isNaming && (
          <NameForm
            onName={(name) => {
              setSaved(withSaved(saved, { name, search: searchOf(filter) }));
              naming.close();
            }}
            onClose={naming.close}
          />
        )}
      </Modal>
    </>
  );
}

function NameForm({ onName, onClose }: { readonly onName: (name: string) => void; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') onName(name.trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          data-autofocus
          maxLength={60}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Text size="xs" c="dimmed">
          Filters are saved in this browser.
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Save</Button>
        </Group>
      </Stack>
    </form>
  );
}

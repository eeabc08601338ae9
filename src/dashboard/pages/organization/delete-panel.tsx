/** The end of an organization. Only owners are offered it, and they type its name first. */
import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { countText } from '../../parts/format.ts';

type Organization = Schemas['Organization'];

interface DeletePanelProps {
  readonly org: Organization;
  readonly isOnlyOne: boolean;
}

export function DeletePanel({ org, isOnlyOne }: DeletePanelProps) {
  const mayDelete = useMay('owner');
  const [asking, { open, close }] = useDisclosure(false);
  const why = reasonAgainst({ org, isOnlyOne, mayDelete });
  return (
    <Panel
      title="Delete organization"
      about={why ?? "Deletes its tunnels, keys, names and networks immediately. You can't undo this."}
      actions={
        <Button color="red.8" variant="outline" onClick={open} disabled={why !== undefined}>
          Delete organization
        </Button>
      }
    >
      {asking && <DeleteDialog org={org} onClose={close} />}
    </Panel>
  );
}

function reasonAgainst({ org, isOnlyOne, mayDelete }: DeletePanelProps & { readonly mayDelete: boolean }) {
  if (!mayDelete) return 'Only an owner can delete the organization.';
  if (org.approval_status === 'suspended')
    return 'The organization is suspended. You can delete it after an operator approves it.';
  if (isOnlyOne) return 'This is your only organization. Create another one first.';
  return undefined;
}

function DeleteDialog({ org, onClose }: { readonly org: Organization; readonly onClose: () => void }) {
  const { client, session } = useApi();
  const [typed, setTyped] = useState('');
  const remove = useAction({
    run: () => answered(client.DELETE('/orgs/{id}', { params: { path: { id: org.id } } })),
    done: ({ deleted_tunnels: tunnels, revoked_tokens: keys }) =>
      `${org.name} deleted, with ${countText(tunnels)} tunnels and ${countText(keys)} keys.`,
    // The session goes on in another organization.
    onDone: () => session.begin(),
    tellsFailure: true,
  });
  return (
    <Modal opened onClose={onClose} title={`Delete the organization ${org.name}?`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === org.name) remove.mutate();
        }}
      >
        <Stack>
          <Text size="sm">This is deleted for all members and can&apos;t be restored:</Text>
          <List size="sm" spacing={4}>
            <List.Item>all tunnels, their policies and recorded requests</List.Item>
            <List.Item>all keys; their agents are disconnected immediately</List.Item>
            <List.Item>projects, domains, reserved names, private networks and webhook receivers</List.Item>
            <List.Item>members and invitations; an email notifies the other owners</List.Item>
          </List>
          <TextInput
            label={`Type ${org.name} to confirm`}
            autoComplete="off"
            data-autofocus
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          {remove.error !== null && <FailureAlert error={remove.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red.8" loading={remove.isPending} disabled={typed !== org.name}>
              Delete organization
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

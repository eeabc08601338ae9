/** The dialog for a new network: a name, and addresses that no other network of the organization has. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { countText } from '../../parts/format.ts';
import { cidrFault, freeCidr, overlapping, roomOf } from './addresses.ts';
import { NETWORKS } from './network-queries.ts';
import type { Network } from './network-labels.ts';

interface CreateNetworkProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Those that are there. */
  readonly networks: readonly Network[];
}

export function CreateNetwork({ opened, onClose, networks }: CreateNetworkProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="New private network">
      <CreateForm networks={networks} onClose={onClose} />
    </Modal>
  );
}

function CreateForm({ networks, onClose }: Omit<CreateNetworkProps, 'opened'>) {
  const { client } = useApi();
  const [, go] = useLocation();
  const [refused, setRefused] = useState<string>();
  const taken = networks.map(({ cidr }) => cidr);
  const form = useForm({
    initialValues: { name: '', cidr: freeCidr(taken) ?? '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name, such as home.' : null), cidr: cidrFault },
    validateInputOnBlur: ['cidr'],
  });
  const create = useAction({
    run: (body: { name: string; cidr: string }) => answered(client.POST('/private-networks', { body })),
    touches: [NETWORKS],
    onDone: ({ id }) => {
      onClose();
      go(`/networks/${id}`);
    },
    tellsFailure: true,
  });
  const { cidr } = form.values;
  const other = overlapping(cidr, networks);
  const room = cidrFault(cidr) === null ? roomOf(cidr) : 0;
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ name, cidr: wanted }) => {
        setRefused(undefined);
        create.mutate(
          { name: name.trim(), cidr: wanted.trim() },
          { onError: (error) => setRefused(showFaults(form, error)) },
        );
      })}
    >
      <Stack>
        <TextInput
          label="Name"
          description="Used by people and agents: culvert udp 51820 --network home"
          placeholder="home"
          maxLength={63}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            flex={1}
            label="Address range"
            description="You can't change them later. Choose a range that your machines use nowhere else."
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: 'culvert-mono' }}
            {...form.getInputProps('cidr')}
          />
        </Group>
        <Group justify="space-between" gap="xs">
          <Text size="xs" c="dimmed">
            {room > 0 ? `Room for ${countText(room)} ${room === 1 ? 'device' : 'devices'}.` : ''}
          </Text>
          <Button
            variant="subtle"
            leftSection={<IconRefresh size={14} />}
            onClick={() => form.setFieldValue('cidr', freeCidr([...taken, cidr]) ?? cidr)}
          >
            Suggest another
          </Button>
        </Group>
        {other !== undefined && (
          <Alert color="yellow" variant="light">
            {other.name} overlaps these addresses ({other.cidr}). No machine can join both networks.
          </Alert>
        )}
        <FormEnd action="Create network" refused={refused} isBusy={create.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

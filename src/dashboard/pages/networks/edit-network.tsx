/** The dialog for what can be changed of a network: its name, and what configs of devices say beside its own addresses. */
import { Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { say, useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { addressesFault, networksFault } from './addresses.ts';
import { AddressList } from './network-fields.tsx';
import { NETWORKS } from './network-queries.ts';
import type { Network } from './network-labels.ts';

interface EditNetworkProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function EditNetwork({ network, opened, onClose }: EditNetworkProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Edit ${network.name}`}>
      <EditForm network={network} onClose={onClose} />
    </Modal>
  );
}

interface Values {
  name: string;
  dns: string[];
  extra_allowed_ips: string[];
}

function EditForm({ network, onClose }: Omit<EditNetworkProps, 'opened'>) {
  const { client } = useApi();
  const queries = useQueryClient();
  const [refused, setRefused] = useState<string>();
  const { id, name, dns, extra_allowed_ips: extra } = network;
  const form = useForm<Values>({
    initialValues: { name, dns, extra_allowed_ips: extra },
    validateInputOnChange: ['dns', 'extra_allowed_ips'],
    validate: {
      name: (value) => (value.trim() === '' ? 'Give it a name.' : null),
      dns: addressesFault,
      extra_allowed_ips: networksFault,
    },
  });
  const save = useAction({
    run: (body: Values) => answered(client.PATCH('/private-networks/{id}', { params: { path: { id } }, body })),
    touches: [NETWORKS],
    onDone: (changed) => {
      queries.setQueryData([...NETWORKS, id], changed);
      const isSame = changed.dns.join() === dns.join() && changed.extra_allowed_ips.join() === extra.join();
      if (!isSame) say('Devices go on with the configs that they have: give them new ones.');
      onClose();
    },
    tellsFailure: true,
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        save.mutate(
          { ...values, name: values.name.trim() },
          { onError: (error) => setRefused(showFaults(form, error)) },
        );
      })}
    >
      <Stack>
        <TextInput label="Name" maxLength={63} autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <AddressList
          label="Devices also send through it"
          description="Networks behind its server, such as 192.168.7.0/24; 0.0.0.0/0 for everything. That machine must pass them on."
          placeholder={form.values.extra_allowed_ips.length === 0 ? '192.168.7.0/24' : ''}
          maxTags={16}
          {...form.getInputProps('extra_allowed_ips')}
        />
        <AddressList
          label="Name servers"
          description="Which devices use while they are in, such as 192.168.7.1. None: they keep their own."
          placeholder={form.values.dns.length === 0 ? '192.168.7.1' : ''}
          maxTags={3}
          {...form.getInputProps('dns')}
        />
        <FormEnd action="Save" refused={refused} isBusy={save.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

/** One private network: setup, relay and devices, and the dialogs to edit and delete it. */
import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import { DeleteDialog } from '../../parts/dialogs/delete-dialog.tsx';
import { DetailPage } from '../../parts/detail-page.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Page } from '../../parts/page.tsx';
import { addressesFault, networksFault } from './addresses.ts';
import { DevicesPanel } from './devices-panel.tsx';
import { GuidePanel } from './guide-panel.tsx';
import { AddressList } from './network-fields.tsx';
import { devicesText, isSelfRelayed, type Network } from './network-labels.ts';
import { NETWORKS, useNetwork } from './network-queries.ts';
import { OnlyHere } from './only-here.tsx';
import { RelayPanel } from './relay-panel.tsx';

export function NetworkPage() {
  const { id = '' } = useParams();
  return (
    <DetailPage query={useNetwork(id)} title="Private network" list="/networks">
      {(network) => <Shown key={id} network={network} />}
    </DetailPage>
  );
}

function Shown({ network }: { readonly network: Network }) {
  const mayChange = useMay('member');
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const close = (): void => setDialog(undefined);
  return (
    <Page
      title={network.name}
      about={
        <>
          Private network <span className="culvert-mono">{network.cidr}</span>
        </>
      }
      actions={
        mayChange && (
          <>
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setDialog('edit')}>
              Edit
            </Button>
            <Button
              variant="default"
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={() => setDialog('delete')}
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <OnlyHere network={network} />
      <GuidePanel network={network} />
      {network.reserved_udp_port !== null && <RelayPanel network={network} />}
      {network.server_public_key !== null && <DevicesPanel network={network} />}
      <EditNetwork network={network} opened={dialog === 'edit'} onClose={close} />
      <DeleteNetwork network={network} opened={dialog === 'delete'} onClose={close} />
    </Page>
  );
}

interface EditNetworkProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The dialog for what can be changed of a network: its name, and what configs of devices say beside its own addresses. */
function EditNetwork({ network, opened, onClose }: EditNetworkProps) {
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
      name: (value) => (value.trim() === '' ? 'Enter a name.' : null),
      dns: addressesFault,
      extra_allowed_ips: networksFault,
    },
  });
  const params = { path: { id } };
  const patch = (body: Partial<Values>) => answered(client.PATCH('/private-networks/{id}', { params, body }));
  const save = useAction({
    run: patch,
    touches: [NETWORKS],
    done: (changed) => {
      const isSame = changed.dns.join() === dns.join() && changed.extra_allowed_ips.join() === extra.join();
      return isSame ? 'Network saved.' : 'Network saved. Devices keep their old configs until you install new ones.';
    },
    undo: (after) =>
      undoOf({
        before: network,
        after,
        fields: ['name', 'dns', 'extra_allowed_ips'],
        read: () => answered(client.GET('/private-networks/{id}', { params })),
        write: patch,
      }),
    onDone: (changed) => {
      queries.setQueryData([...NETWORKS, id], changed);
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
          label="Routed networks"
          description="Networks behind its server, such as 192.168.7.0/24, or 0.0.0.0/0 for all traffic. That machine must forward them."
          placeholder={form.values.extra_allowed_ips.length === 0 ? '192.168.7.0/24' : ''}
          maxTags={16}
          {...form.getInputProps('extra_allowed_ips')}
        />
        <AddressList
          label="DNS servers"
          description="For connected devices, such as 192.168.7.1. Empty: devices keep their own."
          placeholder={form.values.dns.length === 0 ? '192.168.7.1' : ''}
          maxTags={3}
          {...form.getInputProps('dns')}
        />
        <FormEnd action="Save" refused={refused} isBusy={save.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

interface DeleteNetworkProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Confirms that a network is deleted: its devices lose it at once. */
function DeleteNetwork({ network, opened, onClose }: DeleteNetworkProps) {
  const { client } = useApi();
  const { id, name, device_count: devices } = network;
  const end = isSelfRelayed(network)
    ? 'WireGuard keeps running on its machines until you stop it there.'
    : 'Its relay stops immediately, and its UDP port becomes free for other networks.';
  return (
    <DeleteDialog
      what="network"
      name={name}
      opened={opened}
      onClose={onClose}
      run={() => answered(client.DELETE('/private-networks/{id}', { params: { path: { id } } }))}
      list="/networks"
      listKey={NETWORKS}
      id={id}
    >
      {devices === 0
        ? 'It has no devices.'
        : `${devicesText(devices)} ${devices === 1 ? 'loses' : 'lose'} access and must be enrolled again in another network.`}{' '}
      {end}
    </DeleteDialog>
  );
}

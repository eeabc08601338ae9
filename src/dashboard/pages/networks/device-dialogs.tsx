/** Dialogs of an enrolled device. */
import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { say, useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { networksFault } from './addresses.ts';
import { expiryOf, localTime, type Term } from './device-terms.ts';
import { NetworksBehind, TermFields } from './network-fields.tsx';
import { type Device, isSelfRelayed, type Network, plainIp } from './network-labels.ts';
import { NETWORKS } from './network-queries.ts';

interface EditDeviceProps {
  readonly network: Network;
  readonly device: Device;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The dialog for what can be changed of a device: its name, its end, and what is behind it. */
export function EditDevice({ network, device, opened, onClose }: EditDeviceProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Edit ${device.name}`}>
      <EditForm network={network} device={device} onClose={onClose} />
    </Modal>
  );
}

interface Values {
  name: string;
  term: Term;
  expires_at: string;
  extra_allowed_ips: string[];
}

function EditForm({ network, device, onClose }: Omit<EditDeviceProps, 'opened'>) {
  const { client } = useApi();
  const [refused, setRefused] = useState<string>();
  const { expires_at: end, extra_allowed_ips: extra } = device;
  const form = useForm<Values>({
    initialValues: {
      name: device.name,
      term: end === null ? 'never' : 'at',
      expires_at: end === null ? '' : localTime(end),
      extra_allowed_ips: extra,
    },
    validateInputOnChange: ['extra_allowed_ips'],
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      extra_allowed_ips: networksFault,
      expires_at: (at, { term }) => (expiryOf(term, at, Date.now()) === undefined ? 'Choose a time.' : null),
    },
  });
  const save = useAction({
    run: ({ name, term, expires_at: at, extra_allowed_ips: behind }: Values) => {
      // The field has no seconds: an end that was not edited stays as it is, even one in the past.
      const isUntouched = end !== null && term === 'at' && at === localTime(end);
      const body = {
        name: name.trim(),
        extra_allowed_ips: behind,
        ...(isUntouched ? {} : { expires_at: expiryOf(term, at, Date.now()) ?? null }),
      };
      const path = { id: network.id, device_id: device.id };
      return answered(client.PATCH('/private-networks/{id}/devices/{device_id}', { params: { path }, body }));
    },
    touches: [NETWORKS],
    onDone: (changed) => {
      const isKnown = changed.extra_allowed_ips.join() === extra.join() && changed.expired === device.expired;
      if (!isKnown) say("Update WireGuard on the network's server: Show config, under Setup.");
      onClose();
    },
    tellsFailure: true,
  });
  const { values, errors } = form;
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((given) => {
        setRefused(undefined);
        save.mutate(given, { onError: (error) => setRefused(showFaults(form, error)) });
      })}
    >
      <Stack>
        <TextInput label="Name" maxLength={63} autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <TermFields
          term={values.term}
          at={values.expires_at}
          error={typeof errors['expires_at'] === 'string' ? errors['expires_at'] : undefined}
          onChange={(term, at) => form.setValues({ term, expires_at: at })}
        />
        <NetworksBehind {...form.getInputProps('extra_allowed_ips')} />
        <FormEnd action="Save" refused={refused} isBusy={save.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

interface RevokeDeviceProps {
  readonly network: Network;
  readonly device: Device;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Confirms that a device is revoked. */
export function RevokeDevice({ network, device, opened, onClose }: RevokeDeviceProps) {
  const { client } = useApi();
  const revoke = useAction({
    run: () => {
      const path = { id: network.id, device_id: device.id };
      return answered(client.DELETE('/private-networks/{id}/devices/{device_id}', { params: { path } }));
    },
    touches: [NETWORKS],
    done: `${device.name} revoked.`,
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Revoke the device ${device.name}?`}
      action="Revoke device"
      opened={opened}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={() => {
        revoke.reset();
        onClose();
      }}
    >
      <Stack gap="xs">
        <Text size="sm">
          {isSelfRelayed(network)
            ? "It is blocked when WireGuard on the network's server has its new config."
            : 'It is disconnected immediately.'}{' '}
          Its address, {plainIp(device.assigned_ip)}, becomes free for other devices. To allow the device again, enroll
          it again.
        </Text>
      </Stack>
    </Confirm>
  );
}

/** The dialog that enrols a device, and its config after that. Keys are created in this browser, or a public key is pasted. */
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { networksFault } from './addresses.ts';
import { AddPeer, DeviceConfig, useDeviceConfig } from './config-dialog.tsx';
import { expiryOf, type Term } from './device-terms.ts';
import { FinishedConfig } from './finished-config.tsx';
import { keyFault, KeyFields, type KeySource, NetworksBehind, TermFields, useCanMakeKeys } from './network-fields.tsx';
import type { Device, Network } from './network-labels.ts';
import { NETWORKS } from './network-queries.ts';
import { OnlyHere } from './only-here.tsx';
import { fileNameOf, makeKeyPair } from './wireguard.ts';

interface EnrolDeviceProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function EnrolDevice({ network, opened, onClose }: EnrolDeviceProps) {
  // With the private key: until this dialog is closed, and nowhere else.
  const [enrolled, setEnrolled] = useState<Enrolled>();
  const config = enrolled !== undefined && <EnrolledDevice network={network} enrolled={enrolled} onClose={onClose} />;
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={onClose}
      onGone={() => setEnrolled(undefined)}
      size="lg"
      title={enrolled === undefined ? `Enroll a device in ${network.name}` : `${enrolled.device.name} is enrolled`}
      kept={null}
    >
      {enrolled === undefined && <EnrolForm network={network} onClose={onClose} onEnrolled={setEnrolled} />}
      {enrolled?.privateKey === undefined ? (
        config
      ) : (
        <OneTimeSecret label="The config, shown once">{config}</OneTimeSecret>
      )}
    </OneTimeSecretModal>
  );
}

interface Values {
  name: string;
  source: KeySource;
  public_key: string;
  term: Term;
  expires_at: string;
  extra_allowed_ips: string[];
}

interface EnrolFormProps {
  readonly network: Network;
  readonly onClose: () => void;
  readonly onEnrolled: (enrolled: Enrolled) => void;
}

function EnrolForm({ network, onClose, onEnrolled }: EnrolFormProps) {
  const canMake = useCanMakeKeys();
  const [refused, setRefused] = useState<string>();
  const sourceOf = ({ source }: Values): KeySource => (canMake === false ? 'paste' : source);
  const form = useForm<Values>({
    initialValues: { name: '', source: 'make', public_key: '', term: 'never', expires_at: '', extra_allowed_ips: [] },
    validateInputOnChange: ['extra_allowed_ips'],
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name, such as phone.' : null),
      public_key: (key, values) => keyFault({ source: sourceOf(values), public_key: key }),
      extra_allowed_ips: networksFault,
      expires_at: (at, { term }) => (expiryOf(term, at, Date.now()) === undefined ? 'Choose a time.' : null),
    },
  });
  const enrol = useEnrolling(network, onEnrolled);
  const { values, errors } = form;
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((given) => {
        setRefused(undefined);
        const wanted = { ...given, source: sourceOf(given) };
        enrol.mutate(wanted, { onError: (error) => setRefused(showFaults(form, error)) });
      })}
    >
      <Stack>
        <OnlyHere network={network} />
        <TextInput
          label="Name"
          placeholder="phone"
          maxLength={63}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        {canMake !== undefined && (
          <KeyFields
            whose="the device"
            canMake={canMake}
            values={{ source: sourceOf(values), public_key: values.public_key }}
            error={typeof errors['public_key'] === 'string' ? errors['public_key'] : undefined}
            onChange={(chosen) => form.setValues(chosen)}
          />
        )}
        <TermFields
          term={values.term}
          at={values.expires_at}
          error={typeof errors['expires_at'] === 'string' ? errors['expires_at'] : undefined}
          onChange={(term, at) => form.setValues({ term, expires_at: at })}
        />
        <NetworksBehind {...form.getInputProps('extra_allowed_ips')} />
        <FormEnd
          action="Enroll device"
          refused={refused}
          isBusy={enrol.isPending}
          isBarred={canMake === undefined}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}

function useEnrolling({ id }: Network, onEnrolled: (enrolled: Enrolled) => void) {
  const { client } = useApi();
  return useAction({
    run: async ({ name, source, public_key: pasted, term, expires_at: at, extra_allowed_ips: extra }: Values) => {
      const pair = source === 'make' ? await makeKeyPair() : undefined;
      const body = {
        name: name.trim(),
        public_key: pair?.publicKey ?? pasted,
        expires_at: expiryOf(term, at, Date.now()) ?? null,
        extra_allowed_ips: extra,
      };
      const path = { id };
      const { device } = await answered(client.POST('/private-networks/{id}/devices', { params: { path }, body }));
      return { device, privateKey: pair?.privateKey };
    },
    touches: [NETWORKS],
    onDone: onEnrolled,
    tellsFailure: true,
  });
}

/** The result of an enrolment: the device's config, complete where the keys were made here, and the command for the network's server. */
interface Enrolled {
  readonly device: Device;
  /** Undefined: it is on the device. */
  readonly privateKey: string | undefined;
}

interface EnrolledDeviceProps {
  readonly network: Network;
  readonly enrolled: Enrolled;
  readonly onClose: () => void;
}

function EnrolledDevice({ network, enrolled: { device, privateKey }, onClose }: EnrolledDeviceProps) {
  if (privateKey !== undefined)
    return (
      <Stack>
        <OnlyHere network={network} isBrief />
        <Finished network={network} device={device} privateKey={privateKey} onClose={onClose} />
      </Stack>
    );
  return (
    <Stack>
      <DeviceConfig network={network} device={device} />
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

interface FinishedProps {
  readonly network: Network;
  readonly device: Device;
  readonly privateKey: string;
  readonly onClose: () => void;
}

function Finished({ network, device, privateKey, onClose }: FinishedProps) {
  const file = fileNameOf(network.name);
  return (
    <FinishedConfig
      query={useDeviceConfig(network, device)}
      privateKey={privateKey}
      fileName={file}
      qr
      command={`chmod 600 ./${file} && sudo wg-quick up ./${file}`}
      onClose={onClose}
    >
      <AddPeer network={network} device={device} />
    </FinishedConfig>
  );
}

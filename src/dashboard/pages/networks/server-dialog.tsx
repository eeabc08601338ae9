/** The dialog that registers the machine which is a network's server: its key, its port, and how clients come to it. */
import { Alert, NumberInput, Radio, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { useServerConfig } from './config-dialog.tsx';
import { FinishedConfig } from './finished-config.tsx';
import { KeyFields, keyFault, type KeySource, useCanMakeKeys } from './network-fields.tsx';
import { NETWORKS } from './network-queries.ts';
import { isSelfRelayed, type Network } from './network-labels.ts';
import { fileNameOf, makeKeyPair } from './wireguard.ts';

const USUAL_PORT = 51_820;

interface ServerDialogProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function ServerDialog({ network, opened, onClose }: ServerDialogProps) {
  // Until this dialog is closed, and nowhere else.
  const [privateKey, setPrivateKey] = useState<string>();
  const isShown = privateKey !== undefined;
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={onClose}
      onGone={() => setPrivateKey(undefined)}
      size="lg"
      title={isShown ? `Server config for ${network.name}` : `Server for ${network.name}`}
      kept={null}
    >
      {isShown ? (
        <OneTimeSecret label="The config, shown once">
          <Made network={network} privateKey={privateKey} onClose={onClose} />
        </OneTimeSecret>
      ) : (
        <ServerForm network={network} onClose={onClose} onMade={setPrivateKey} />
      )}
    </OneTimeSecretModal>
  );
}

interface MadeProps {
  readonly network: Network;
  readonly privateKey: string;
  readonly onClose: () => void;
}

function Made({ network, privateKey, onClose }: MadeProps) {
  const file = fileNameOf(network.name);
  return (
    <FinishedConfig
      query={useServerConfig(network)}
      privateKey={privateKey}
      fileName={file}
      command={`chmod 600 ./${file} && sudo wg-quick up ./${file}`}
      onClose={onClose}
    />
  );
}

interface Values {
  source: KeySource;
  server_public_key: string;
  server_listen_port: number | string;
  way: 'relay' | 'own';
  public_endpoint: string;
}

interface ServerFormProps {
  readonly network: Network;
  readonly onClose: () => void;
  readonly onMade: (privateKey: string) => void;
}

function ServerForm({ network, onClose, onMade }: ServerFormProps) {
  const canMake = useCanMakeKeys();
  const [refused, setRefused] = useState<string>();
  const { server_public_key: registered } = network;
  const isOwn = isSelfRelayed(network);
  const form = useForm<Values>({
    initialValues: {
      source: registered === null ? 'make' : 'keep',
      server_public_key: '',
      server_listen_port: network.server_listen_port ?? USUAL_PORT,
      way: isOwn ? 'own' : 'relay',
      public_endpoint: isOwn ? (network.public_endpoint ?? '') : '',
    },
    validate: {
      server_public_key: (key, values) => keyFault({ source: sourceOf(values, canMake), public_key: key }),
      server_listen_port: (port) => (typeof port === 'number' ? null : 'Enter a UDP port, 1 to 65535.'),
      public_endpoint: (at, { way }) =>
        way === 'own' && at.trim() === '' ? 'Enter host:port, such as vpn.example.com:51820.' : null,
    },
  });
  const register = useRegister(network, onMade, onClose);
  const source = sourceOf(form.values, canMake);
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        register.mutate({ ...values, source }, { onError: (error) => setRefused(showFaults(form, error)) });
      })}
    >
      <Stack>
        {canMake !== undefined && (
          <KeyFields
            whose="the server"
            canMake={canMake}
            canKeep={registered !== null}
            values={{ source, public_key: form.values.server_public_key }}
            error={textOf(form.errors['server_public_key'])}
            onChange={({ source: chosen, public_key: key }) => {
              form.setFieldValue('source', chosen);
              form.setFieldValue('server_public_key', key);
            }}
          />
        )}
        {registered !== null && source !== 'keep' && network.device_count > 0 && (
          <Alert color="yellow" variant="light">
            Devices identify the server by its key. With a new key, each device needs a new config.
          </Alert>
        )}
        <NumberInput
          label="WireGuard UDP port"
          min={1}
          max={65_535}
          allowDecimal={false}
          hideControls
          {...form.getInputProps('server_listen_port')}
        />
        <Radio.Group label="Connection" {...form.getInputProps('way')}>
          <Stack gap="xs" mt={6}>
            <Radio
              value="relay"
              label="Through Culvert"
              description="For a machine behind NAT. An agent on it relays the encrypted packets; Culvert can't read them."
            />
            <Radio
              value="own"
              label="Directly"
              description="For a machine with a public address and an open port. Culvert manages addresses and keys, and forwards no traffic."
            />
          </Stack>
        </Radio.Group>
        {form.values.way === 'own' && (
          <TextInput
            label="Public endpoint"
            placeholder="vpn.example.com:51820"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('public_endpoint')}
          />
        )}
        <FormEnd
          action={registered === null ? 'Register server' : 'Save'}
          refused={refused}
          isBusy={register.isPending}
          isBarred={canMake === undefined}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}

function useRegister(network: Network, onMade: (privateKey: string) => void, onClose: () => void) {
  const { client } = useApi();
  const queries = useQueryClient();
  const { id, server_public_key: registered } = network;
  return useAction({
    run: async ({ source, ...values }: Values) => {
      const pair = source === 'make' ? await makeKeyPair() : undefined;
      const key = source === 'keep' ? registered : (pair?.publicKey ?? values.server_public_key);
      const body = {
        server_public_key: key ?? '',
        server_listen_port: Number(values.server_listen_port),
        ...(values.way === 'own' ? { public_endpoint: values.public_endpoint.trim() } : {}),
      };
      const changed = await answered(client.PUT('/private-networks/{id}/server', { params: { path: { id } }, body }));
      return { changed, privateKey: pair?.privateKey };
    },
    touches: [NETWORKS],
    onDone: ({ changed, privateKey }) => {
      queries.setQueryData([...NETWORKS, id], changed);
      if (privateKey === undefined) onClose();
      else onMade(privateKey);
    },
    tellsFailure: true,
  });
}

/** Where the browser makes no keys, they are pasted. */
function sourceOf({ source }: Pick<Values, 'source'>, canMake: boolean | undefined): KeySource {
  return source === 'make' && canMake === false ? 'paste' : source;
}

function textOf(error: unknown): string | undefined {
  return typeof error === 'string' ? error : undefined;
}

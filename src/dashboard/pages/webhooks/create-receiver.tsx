/** The dialog for a new receiver. The secret, where it is made here, is shown once with the URL and where both go. */
import { Button, Group, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { useTunnels } from '../tunnels/tunnel-queries.ts';
import { forwardChoices } from './forward-panel.tsx';
import { RECEIVERS } from './receiver-queries.ts';
import { makeSecret, type Receiver, SENDERS, senderOf, type Validator } from './senders.ts';

interface Made {
  readonly receiver: Receiver;
  /** Undefined: the creator of the receiver has it, or the sender will make it. */
  readonly secret: string | undefined;
}

interface CreateReceiverProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function CreateReceiver({ opened, onClose }: CreateReceiverProps) {
  const [, go] = useLocation();
  // Until this dialog is closed, and nowhere else.
  const [made, setMade] = useState<Made>();
  const close = (): void => {
    onClose();
    if (made !== undefined) go(`/webhooks/${made.receiver.id}`);
  };
  const ready = made !== undefined && <Ready made={made} onClose={close} />;
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={close}
      onGone={() => setMade(undefined)}
      size="lg"
      title={made === undefined ? 'New receiver' : `Receiver ${made.receiver.name} created`}
      kept={null}
    >
      {made === undefined && <CreateForm onMade={setMade} onClose={onClose} />}
      {made?.secret === undefined ? ready : <OneTimeSecret label="The secret, shown once">{ready}</OneTimeSecret>}
    </OneTimeSecretModal>
  );
}

function Ready({ made: { receiver, secret }, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  return (
    <Stack>
      <Text size="sm">{senderOf(receiver.validator).setup}</Text>
      <div>
        <Text size="sm" fw={500} mb={4}>
          URL
        </Text>
        <CopyLine value={receiver.url} what="the URL" />
      </div>
      {secret !== undefined && (
        <div>
          <Text size="sm" fw={500} mb={4}>
            Secret
          </Text>
          <CopyLine value={secret} what="the secret" />
          <Text size="xs" c="dimmed" mt={4}>
            Copy it now. You won&apos;t see it again.
          </Text>
        </div>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>{secret === undefined ? 'Open receiver' : 'Done'}</Button>
      </Group>
    </Stack>
  );
}

interface Values {
  name: string;
  validator: Validator;
  secret: string;
  tunnel: string | null;
  path: string;
}

interface CreateFormProps {
  readonly onMade: (made: Made) => void;
  readonly onClose: () => void;
}

function CreateForm({ onMade, onClose }: CreateFormProps) {
  const { client } = useApi();
  const tunnels = useTunnels();
  const [refused, setRefused] = useState<string>();
  const form = useForm<Values>({
    initialValues: { name: '', validator: 'github', secret: '', tunnel: null, path: '/' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name, such as orders.' : null),
      secret: (secret, { validator }) =>
        senderOf(validator).isFirst === true && secret.trim() === ''
          ? `Copy it from ${senderOf(validator).label}.`
          : null,
      path: (path, { tunnel }) => (tunnel === null || path.startsWith('/') ? null : 'The path must begin with /.'),
    },
  });
  const create = useAction({
    run: async ({ name, validator, secret, tunnel, path }: Values): Promise<Made> => {
      // Until the sender has made its secret, a random one blocks all deliveries.
      const used = secret === '' ? makeSecret() : secret;
      const forward = tunnel === null ? {} : { forward: { tunnel_id: tunnel, path } };
      const body = { name: name.trim(), validator, secret: used, ...forward };
      const receiver = await answered<Receiver>(client.POST('/webhook-receivers', { body }));
      return { receiver, secret: secret === '' && senderOf(validator).isOurs ? used : undefined };
    },
    touches: [RECEIVERS],
    onDone: onMade,
    tellsFailure: true,
  });
  const sender = senderOf(form.values.validator);
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        create.mutate(values, { onError: (error) => setRefused(showFaults(form, error)) });
      })}
    >
      <Stack>
        <TextInput
          label="Name"
          placeholder="orders"
          maxLength={100}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Select
          label="Sender"
          description="Sets how deliveries are signed. Deliveries without a valid signature are rejected."
          data={SENDERS.map(({ value, label }) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('validator')}
        />
        <PasswordInput
          label="Secret"
          description={sender.isOurs ? `${sender.secret} Empty: generates one and shows it once.` : sender.secret}
          placeholder={sender.isOurs ? 'Generated' : ''}
          maxLength={512}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
          {...form.getInputProps('secret')}
        />
        <Select
          label="Forward to tunnel"
          description="Your service gets deliveries in order. They wait while it is offline."
          placeholder="Store only"
          data={forwardChoices(tunnels.data)}
          clearable
          searchable
          nothingFoundMessage="No HTTP tunnel found"
          {...form.getInputProps('tunnel')}
        />
        {form.values.tunnel !== null && (
          <TextInput
            label="Path"
            maxLength={1024}
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: 'culvert-mono' }}
            {...form.getInputProps('path')}
          />
        )}
        <FormEnd action="Create receiver" refused={refused} isBusy={create.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

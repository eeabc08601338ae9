/** The dialogs for a receiver's name and sender, and for another secret: one that is made here is shown once. */
import { Modal, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { say, useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { RECEIVERS } from './receiver-queries.ts';
import { makeSecret, type Receiver, SENDERS, senderOf } from './senders.ts';

interface DialogProps {
  readonly receiver: Receiver;
  readonly opened: boolean;
  readonly onClose: () => void;
}
type FormProps = Omit<DialogProps, 'opened'>;

/** Changes a receiver; the page shows the answer at once. `done` is said with an undo of name and sender: a former secret is not known. */
export function useReceiverChange(
  receiver: Receiver,
  onDone: (changed: Receiver) => void,
  done?: (changed: Receiver) => string,
) {
  const { client } = useApi();
  const queries = useQueryClient();
  const { id } = receiver;
  const params = { path: { id } };
  const patch = (body: Schemas['WebhookReceiverChanges']) =>
    answered<Receiver>(client.PATCH('/webhook-receivers/{id}', { params, body }));
  return useAction({
    run: patch,
    ...(done && { done }),
    undo: (after) =>
      undoOf({
        before: receiver,
        after,
        fields: ['name', 'validator'],
        read: () => answered<Receiver>(client.GET('/webhook-receivers/{id}', { params })),
        write: patch,
      }),
    touches: [RECEIVERS],
    onDone: (changed) => {
      queries.setQueryData([...RECEIVERS, id], changed);
      onDone(changed);
    },
    tellsFailure: true,
  });
}

export function EditReceiver({ receiver, opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Edit ${receiver.name}`}>
      <EditForm receiver={receiver} onClose={onClose} />
    </Modal>
  );
}

function EditForm({ receiver, onClose }: FormProps) {
  const [refused, setRefused] = useState<string>();
  const form = useForm({
    initialValues: { name: receiver.name, validator: receiver.validator },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  });
  const change = useReceiverChange(receiver, onClose, ({ name }) => `Receiver ${name} saved.`);
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        change.mutate(values, { onError: (error) => setRefused(showFaults(form, error)) });
      })}
    >
      <Stack>
        <TextInput label="Name" maxLength={100} autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <Select
          label="Sender"
          description="Applies to new deliveries."
          data={SENDERS.map(({ value, label }) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('validator')}
        />
        <FormEnd action="Save" refused={refused} isBusy={change.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

export function NewSecret({ receiver, opened, onClose }: DialogProps) {
  // Until this dialog is closed, and nowhere else.
  const [made, setMade] = useState<string>();
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={onClose}
      onGone={() => setMade(undefined)}
      title={`New secret for ${receiver.name}`}
    >
      {made === undefined ? (
        <SecretForm receiver={receiver} onMade={setMade} onClose={onClose} />
      ) : (
        <OneTimeSecret label="The secret, shown once">
          <Text size="sm">{senderOf(receiver.validator).secret}</Text>
          <CopyLine value={made} what="the secret" />
          <Text size="xs" c="dimmed">
            Copy it now. You won&apos;t see it again. Deliveries signed with the old secret are rejected.
          </Text>
        </OneTimeSecret>
      )}
    </OneTimeSecretModal>
  );
}

function SecretForm({ receiver, onMade, onClose }: FormProps & { readonly onMade: (secret: string) => void }) {
  const sender = senderOf(receiver.validator);
  const [refused, setRefused] = useState<string>();
  const form = useForm({
    initialValues: { secret: '' },
    validate: {
      secret: (secret) => (!sender.isOurs && secret.trim() === '' ? `Copy it from ${sender.label}.` : null),
    },
  });
  const change = useReceiverChange(receiver, () => {});
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ secret }) => {
        setRefused(undefined);
        const used = secret === '' ? makeSecret() : secret;
        change.mutate(
          { secret: used },
          {
            onError: (error) => setRefused(showFaults(form, error)),
            onSuccess: () => {
              if (secret === '') return onMade(used);
              say(`Secret changed for ${receiver.name}.`);
              onClose();
            },
          },
        );
      })}
    >
      <Stack>
        <Text size="sm">Deliveries signed with the old secret are then rejected.</Text>
        <PasswordInput
          label="Secret"
          description={sender.isOurs ? `${sender.secret} Empty: generates one and shows it once.` : sender.secret}
          placeholder={sender.isOurs ? 'Generated' : ''}
          maxLength={512}
          autoComplete="off"
          data-autofocus
          visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
          {...form.getInputProps('secret')}
        />
        <FormEnd action="Set secret" refused={refused} isBusy={change.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

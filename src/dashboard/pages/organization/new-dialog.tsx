/** Makes another organization and goes over to it. */
import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { useSwitch } from './switch.ts';

interface NewDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewDialog({ opened, onClose }: NewDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="New organization">
      <NewForm onClose={onClose} />
    </Modal>
  );
}

function NewForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const [rest, setRest] = useState<string>();
  const form = useForm({ initialValues: { name: '' } });
  const move = useSwitch();
  const make = useAction({
    run: (body: { name: string }) => answered(client.POST('/orgs', { body })),
    touches: [['orgs'], ['me']],
    onDone: ({ id }) => {
      onClose();
      move.mutate(id);
    },
    tellsFailure: true,
  });
  const save = (values: { name: string }): void => {
    setRest(undefined);
    make.mutate(values, { onError: (error) => setRest(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      <Stack>
        <Text size="sm">
          It has tunnels, keys, members and a plan of its own. You are its owner, and act for it from then on; the menu
          at the top right leads back.
        </Text>
        <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
        <FormEnd action="Create organization" refused={rest} isBusy={make.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

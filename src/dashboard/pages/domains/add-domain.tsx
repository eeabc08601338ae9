/** Adds a domain, which then says what it needs. */
import { Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { DOMAINS } from './domain-query.ts';
import type { Domain } from './domain-state.ts';

interface AddDomainProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onAdded: (domain: Domain) => void;
}

export function AddDomain({ opened, onClose, onAdded }: AddDomainProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Add a domain">
      <DomainForm onClose={onClose} onAdded={onAdded} />
    </Modal>
  );
}

function DomainForm({ onClose, onAdded }: Omit<AddDomainProps, 'opened'>) {
  const { client } = useApi();
  const [message, setMessage] = useState<string>();
  const form = useForm({
    initialValues: { domain: '' },
    validate: { domain: (domain) => (domain.trim() === '' ? 'Write the domain, such as shop.example.net.' : null) },
  });
  const add = useAction({
    run: (body: Schemas['NewDomain']) => answered(client.POST('/domains', { body })),
    touches: [DOMAINS],
    onDone: (domain) => {
      onAdded(domain);
      onClose();
    },
    tellsFailure: true,
  });
  const submit = form.onSubmit(({ domain }) => {
    setMessage(undefined);
    add.mutate({ domain: domain.trim() }, { onError: (error) => setMessage(showFaults(form, error)) });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="Domain"
          description="A whole name that you own. Each name is added by itself; there are no wildcards."
          placeholder="shop.example.net"
          autoCapitalize="none"
          data-autofocus
          {...form.getInputProps('domain')}
        />
        <FormEnd action="Add domain" refused={message} isBusy={add.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

/** Changes the limits of a key that exists: its name, the names of tunnels, how many, and the bandwidth. */
import { Alert, Modal, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas, Token } from '../../api/types.ts';
import type { Asked } from '../../parts/dialogs/asked.ts';
import { useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { TOKENS } from './key-query.ts';
import { BandwidthField, NamesField, QuotaField } from './limit-fields.tsx';
import { limitChanges, type LimitValues, lowersLimits } from './limit-values.ts';
import { FIELDS } from './new-key-values.ts';

export function LimitsDialog({ asked: { row: token, opened, close } }: { readonly asked: Asked<Token> }) {
  return (
    <Modal opened={opened} onClose={close} title={`Limits of the key ${token?.name ?? ''}`}>
      {token !== undefined && <LimitsForm key={token.nonce} token={token} onClose={close} />}
    </Modal>
  );
}

const LIMITS = ['name', 'allowedSubdomains', 'tunnelQuota', 'bandwidthLimitMbps'] as const;

function LimitsForm({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const { client } = useApi();
  const [refused, setRefused] = useState<string>();
  const form = useForm<LimitValues>({
    initialValues: {
      name: token.name,
      names: [...token.allowedSubdomains],
      quota: token.tunnelQuota,
      mbps: token.bandwidthLimitMbps,
    },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name for the key.' : null) },
  });
  const params = { path: { nonce: token.nonce } };
  const patch = (body: Schemas['TokenChanges']) => answered(client.PATCH('/tokens/{nonce}', { params, body }));
  const save = useAction({
    run: (values: LimitValues) => patch(limitChanges(token, values)),
    undo: (after, values) =>
      undoOf({
        before: token,
        after,
        fields: LIMITS.filter((field) => field in limitChanges(token, values)),
        read: () => answered(client.GET('/tokens/{nonce}', { params })),
        write: patch,
      }),
    done: ({ name }) => `Limits of ${name} saved.`,
    touches: [TOKENS, ['connections']],
    onDone: onClose,
    tellsFailure: true,
  });
  const isMaster = token.kind === 'master';
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        save.mutate(values, { onError: (error) => setRefused(showFaults(form, error, FIELDS)) });
      })}
    >
      <Stack>
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        {!isMaster && (
          <>
            <NamesField
              names={form.values.names}
              input={form.getInputProps('names')}
              onNames={(names) => form.setFieldValue('names', names)}
            />
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <QuotaField {...form.getInputProps('quota')} />
              <BandwidthField {...form.getInputProps('mbps')} />
            </SimpleGrid>
          </>
        )}
        {lowersLimits(token, form.values) && token.serving.sessions > 0 && (
          <Alert color="yellow" variant="light" role="status">
            The key is in use. Agents that serve more than it allows are disconnected, and come back with what it
            allows.
          </Alert>
        )}
        <FormEnd action="Save limits" refused={refused} isBusy={save.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

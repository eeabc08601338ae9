/** The dialog for a new key: first the form, then the key, shown once. */
import { Alert, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import type { MintedToken } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { centsOf, NO_AMOUNT } from '../../parts/forms/dollars.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { PlanLink } from '../../parts/links.tsx';
import { TOKENS } from './key-query.ts';
import { MintedKey } from './minted-key.tsx';
import { NamesField } from './limit-fields.tsx';
import { LifetimeField, LimitFields, ProjectField } from './new-key-fields.tsx';
import {
  agentBody,
  emptyKey,
  FIELDS,
  type KeyUse,
  masterBody,
  type NewKeyValues,
  projectBody,
} from './new-key-values.ts';

interface NewKeyProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Slug: the key is made for this project, and no other kind is offered. */
  readonly project?: string;
}

export function NewKey({ opened, onClose, project }: NewKeyProps) {
  return (
    <OneTimeSecretModal opened={opened} onClose={onClose} title="New key" size="lg">
      <Steps project={project} onClose={onClose} />
    </OneTimeSecretModal>
  );
}

/** What it holds is gone with the dialog. */
function Steps({ project, onClose }: Omit<NewKeyProps, 'opened' | 'project'> & { project: string | undefined }) {
  const [minted, setMinted] = useState<MintedToken>();
  if (minted !== undefined) return <MintedKey token={minted} />;
  return <NewKeyForm project={project} onMinted={setMinted} onClose={onClose} />;
}

interface NewKeyFormProps {
  readonly project: string | undefined;
  readonly onMinted: (token: MintedToken) => void;
  readonly onClose: () => void;
}

const USES: ReadonlyArray<{ readonly value: KeyUse; readonly label: string }> = [
  { value: 'agent', label: 'Agent' },
  { value: 'project', label: 'Project' },
  { value: 'master', label: 'Master' },
];
const ABOUT: Readonly<Record<KeyUse, string>> = {
  agent: 'For a machine. Opens tunnels in all projects.',
  project: "Opens tunnels in one project only, with names that end with the project's slug.",
  master:
    'For CI and AI agents. Creates short-lived keys, each for one project, and opens no tunnels. Its keys expire with it, and  ' +
    'they share its budget.',
};

/** The form of a new key: kind, lifetime, names and limits. */
function NewKeyForm({ project, onMinted, onClose }: NewKeyFormProps) {
  const { client } = useApi();
  const [message, setMessage] = useState<string>();
  const form = useForm<NewKeyValues>({
    initialValues: emptyKey(project === undefined ? 'agent' : 'project', project ?? 'default'),
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name for the key.' : null),
      budget: (budget) => (centsOf(budget) === undefined ? NO_AMOUNT : null),
    },
  });
  const { use } = form.values;
  const barred = useBarred(use);
  const mint = useAction({
    run: (values: NewKeyValues) => {
      if (values.use === 'master') return answered(client.POST('/tokens/master', { body: masterBody(values) }));
      if (values.use === 'agent') return answered(client.POST('/tokens', { body: agentBody(values) }));
      const params = { path: { slug: values.project } };
      return answered(client.POST('/projects/{slug}/tokens', { params, body: projectBody(values) }));
    },
    touches: [TOKENS, ['projects']],
    onDone: onMinted,
    tellsFailure: true,
  });
  const submit = form.onSubmit((values) => {
    setMessage(undefined);
    mint.mutate(values, { onError: (error) => setMessage(showFaults(form, error, FIELDS)) });
  });
  const choose = (next: KeyUse): void => {
    form.setFieldValue('use', next);
    form.setFieldValue('lifetime', next === 'master' ? '2160' : '720');
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {project === undefined && (
          <Stack gap={6}>
            <SegmentedControl fullWidth aria-label="Kind of key" data={[...USES]} value={use} onChange={choose} />
            <Text size="sm" c="dimmed">
              {ABOUT[use]}
            </Text>
          </Stack>
        )}
        {barred ?? (
          <>
            <TextInput
              label="Name"
              description="Shown in lists and in the audit log"
              placeholder={use === 'master' ? 'ci' : 'laptop'}
              data-autofocus
              {...form.getInputProps('name')}
            />
            {use === 'project' && project === undefined && <ProjectField form={form} />}
            <LifetimeField form={form} />
            {use !== 'master' && (
              <NamesField
                names={form.values.names}
                input={form.getInputProps('names')}
                onNames={(names) => form.setFieldValue('names', names)}
              />
            )}
            <LimitFields form={form} />
          </>
        )}
        <FormEnd
          action="Create key"
          refused={message}
          isBusy={mint.isPending}
          isBarred={barred !== undefined}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}

/** Why this person can't make a key of this kind, with the way out. */
function useBarred(use: KeyUse) {
  const { entitlements } = useAccount();
  const isAdmin = useMay('admin');
  if (use !== 'master') return undefined;
  if (!entitlements.master_keys) return <PlanLink>Your plan, {entitlements.plan}, has no master keys.</PlanLink>;
  if (isAdmin) return undefined;
  return (
    <Alert color="yellow" variant="light">
      Only admins can create master keys, because a master key creates other keys. Ask an admin of your organization.
    </Alert>
  );
}

/** Another password, by the current one; for an account that has none, a link by mail. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import { useAction } from '../../parts/action.ts';
import { FormEnd, Refused } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Panel } from '../../parts/panel.tsx';
import { PasswordField } from '../auth/fields.tsx';
import { PASSWORD_RULE, passwordFault } from '../auth/credentials.ts';

export function PasswordPanel() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Panel
      title="Password"
      about="A new one ends your other sessions, and the logins of your command lines."
      actions={
        <Button variant="default" onClick={open}>
          Change password
        </Button>
      }
    >
      <LinkByMail />
      <Modal opened={opened} onClose={close} title="Change your password">
        <ChangeForm onClose={close} />
      </Modal>
    </Panel>
  );
}

function LinkByMail() {
  const { client } = useApi();
  const { email } = useAccount().user;
  const send = useAction({
    run: () => answered(client.POST('/auth/forgot', { body: { email } })),
    done: `A link to set a password is on its way to ${email}. It works once, for an hour.`,
  });
  return (
    <Group gap="xs" justify="space-between">
      <Text size="sm" c="dimmed" flex="1 1 220px">
        You have forgotten it, or never had one because you come by an identity provider?
      </Text>
      <Button variant="subtle" loading={send.isPending} onClick={() => send.mutate()}>
        Send me a link
      </Button>
    </Group>
  );
}

interface Change {
  readonly current_password: string;
  readonly new_password: string;
}

function ChangeForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const [problem, setProblem] = useState<string>();
  const form = useForm<Change>({
    initialValues: { current_password: '', new_password: '' },
    validate: { new_password: passwordFault },
  });
  const change = useAction({
    run: (body: Change) => answered(client.POST('/auth/password', { body })),
    done: 'Your password is changed. Your other sessions are over.',
    touches: [['me']],
    onDone: onClose,
    tellsFailure: true,
  });
  const refused = (error: unknown): void => {
    const { status, message } = failureFrom(error);
    if (status === 401) form.setFieldError('current_password', message);
    else if (status === 409) setProblem('Your account has no password yet. Close this, and have a link sent to you.');
    else setProblem(showFaults(form, error));
  };
  const save = (values: Change): void => {
    setProblem(undefined);
    change.mutate(values, { onError: refused });
  };
  return (
    <form method="post" onSubmit={form.onSubmit(save)}>
      <Stack>
        <Refused>{problem}</Refused>
        <PasswordField
          size="sm"
          label="Current password"
          name="current-password"
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps('current_password')}
        />
        <PasswordField
          size="sm"
          label="New password"
          description={PASSWORD_RULE}
          name="new-password"
          autoComplete="new-password"
          {...form.getInputProps('new_password')}
        />
        <FormEnd action="Change password" isBusy={change.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

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
      about="A change ends your other sessions and CLI logins."
      actions={
        <Button variant="default" onClick={open}>
          Change password
        </Button>
      }
    >
      <LinkByMail />
      <Modal opened={opened} onClose={close} title="Change password">
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
    done: `A password link was sent to ${email}. It works once and expires in an hour.`,
  });
  return (
    <Group gap="xs" justify="space-between">
      <Text size="sm" c="dimmed" flex="1 1 220px">
        Forgot your password, or signed up with an identity provider?
      </Text>
      <Button variant="subtle" loading={send.isPending} onClick={() => send.mutate()}>
        Send link
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
    done: 'Password changed. Your other sessions ended.',
    touches: [['me']],
    onDone: onClose,
    tellsFailure: true,
  });
  const refused = (error: unknown): void => {
    const { status, message } = failureFrom(error);
    if (status === 401) form.setFieldError('current_password', message);
    else if (status === 409) setProblem('Your account has no password. Close this dialog and send yourself a link.');
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

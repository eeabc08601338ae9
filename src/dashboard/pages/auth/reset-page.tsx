/** `/reset?token=`, to which the mail about a forgotten password leads: a new password, or a new link. */
import { Anchor, Button, Code, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import type { Arrival } from '../../place.ts';
import { PasswordField } from './fields.tsx';
import { ForgotStep, SentStep } from './forgot-step.tsx';
import { Frame } from './frame.tsx';
import { PASSWORD_RULE, passwordFault } from './credentials.ts';
import { Step, useStep } from './step.tsx';

const USED_UP = 'This link was already used or has expired.';
const INCOMPLETE = 'This link is incomplete. Open the full link from the email, or request a new one.';

type Place =
  | { readonly step: 'reset'; readonly token: string }
  | { readonly step: 'forgot'; readonly problem: string }
  | { readonly step: 'sent' | 'done' };

export function ResetPage({ arrival: { token } }: { readonly arrival: Arrival }) {
  const [email, setEmail] = useState('');
  const [place, setPlace] = useState<Place>(() =>
    token === undefined ? { step: 'forgot', problem: INCOMPLETE } : { step: 'reset', token },
  );
  const flow = { order: 1, email, setEmail, go: setPlace } as const;
  const back = (
    <Anchor component={Link} href="/" size="sm" className="culvert-auth-link">
      Log in instead
    </Anchor>
  );
  return (
    <Frame title="New password">
      {place.step === 'reset' && <NewPassword token={place.token} go={setPlace} />}
      {place.step === 'forgot' && (
        <ForgotStep flow={flow} title="Request new link" problem={place.problem} back={back} />
      )}
      {place.step === 'sent' && <SentStep flow={flow} back={back} />}
      {place.step === 'done' && <Done />}
    </Frame>
  );
}

function NewPassword({ token, go }: { readonly token: string; readonly go: (place: Place) => void }) {
  const { client, session } = useApi();
  const form = useForm({
    initialValues: { new_password: '', again: '' },
    validate: {
      new_password: passwordFault,
      again: (again, { new_password: password }) => (again === password ? null : "The passwords don't match."),
    },
  });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    run: async ({ new_password }): Promise<Place> => {
      try {
        await answered(client.POST('/auth/reset', { body: { token, new_password } }));
        return { step: 'done' };
      } catch (error) {
        if (failureFrom(error).code === 'invalid_code') return { step: 'forgot', problem: USED_UP };
        throw error;
      }
    },
    onDone: (next) => {
      go(next);
      // All sessions of the account are over; this browser may have had one.
      if (next.step === 'done') session.end();
    },
  });
  return (
    <Step title="Set new password" order={1} problem={problem} onSubmit={onSubmit}>
      <PasswordField
        label="New password"
        description={PASSWORD_RULE}
        name="new-password"
        autoComplete="new-password"
        {...form.getInputProps('new_password')}
      />
      <PasswordField
        label="Confirm password"
        name="again"
        autoComplete="new-password"
        {...form.getInputProps('again')}
      />
      <Button type="submit" size="md" loading={isBusy}>
        Set password
      </Button>
    </Step>
  );
}

function Done() {
  return (
    <Step title="Password changed" order={1}>
      <Text size="sm">
        You are logged out of all browsers and CLIs. On machines with the CLI, run <Code>culvert login</Code> again.
        Access keys keep working.
      </Text>
      <Button component={Link} href="/" size="md">
        Log in
      </Button>
    </Step>
  );
}

/** A forgotten password: asks for a mail with a link to set a new one. Also where such a link has run out. */
import { Button, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { answered } from '../../api/client.ts';
import { useMailOff } from '../../api/auth-options.ts';
import { useApi } from '../../api/context.tsx';
import { EmailField } from './fields.tsx';
import { type AuthFlow, Step, useStep } from './step.tsx';

interface ForgotStepProps {
  readonly flow: Pick<AuthFlow, 'order' | 'email' | 'setEmail'> & {
    readonly go: (place: { readonly step: 'sent' }) => void;
  };
  readonly title: string;
  readonly problem: string | undefined;
  readonly back: ReactNode;
}

export function ForgotStep({ flow, title, problem: first, back }: ForgotStepProps) {
  const { client } = useApi();
  const isMailOff = useMailOff();
  const form = useForm({
    initialValues: { email: flow.email },
    onValuesChange: ({ email }) => flow.setEmail(email),
  });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    problem: first,
    run: (body) => answered(client.POST('/auth/forgot', { body })),
    onDone: () => flow.go({ step: 'sent' }),
  });
  return (
    <Step title={title} order={flow.order} problem={problem} onSubmit={onSubmit}>
      <Text size="sm">
        {isMailOff
          ? 'This server sends no email. Ask its operator for a link: it is in the log of the server, or under Operator → Users.'
          : 'You get an email with a link to set a new password.'}
      </Text>
      <EmailField type="email" {...form.getInputProps('email')} />
      <Button type="submit" size="md" loading={isBusy}>
        Send link
      </Button>
      {back}
    </Step>
  );
}

interface SentStepProps {
  readonly flow: Pick<AuthFlow, 'order' | 'email'>;
  readonly back: ReactNode;
}

export function SentStep({ flow, back }: SentStepProps) {
  const isMailOff = useMailOff();
  return (
    <Step title={isMailOff ? 'Ask the operator for the link' : 'Check your email'} order={flow.order}>
      <Text size="sm" className="culvert-wrap">
        If <strong>{flow.email}</strong> has an account here,{' '}
        {isMailOff ? 'its link is in the log of the server.' : 'we sent a link to it.'} The link works once and expires
        in an hour.
      </Text>
      {back}
    </Step>
  );
}

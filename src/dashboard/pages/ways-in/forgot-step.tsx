/** A forgotten password: asks for a mail with a link to set a new one. Also where such a link has run out. */
import { Button, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { EmailField } from './fields.tsx';
import { Step } from './step.tsx';
import { useStep } from './use-step.ts';
import type { Way } from './way.ts';

interface ForgotStepProps {
  readonly way: Pick<Way, 'order' | 'email' | 'setEmail'> & { readonly go: (place: { readonly step: 'sent' }) => void };
  readonly title: string;
  readonly problem: string | undefined;
  readonly back: ReactNode;
}

export function ForgotStep({ way, title, problem: first, back }: ForgotStepProps) {
  const { client } = useApi();
  const form = useForm({
    initialValues: { email: way.email },
    onValuesChange: ({ email }) => way.setEmail(email),
  });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    problem: first,
    run: (body) => answered(client.POST('/auth/forgot', { body })),
    onDone: () => way.go({ step: 'sent' }),
  });
  return (
    <Step title={title} order={way.order} problem={problem} onSubmit={onSubmit}>
      <Text size="sm">You get a mail with a link to set a new password.</Text>
      <EmailField type="email" {...form.getInputProps('email')} />
      <Button type="submit" size="md" loading={isBusy}>
        Send the link
      </Button>
      {back}
    </Step>
  );
}

interface SentStepProps {
  readonly way: Pick<Way, 'order' | 'email'>;
  readonly back: ReactNode;
}

export function SentStep({ way, back }: SentStepProps) {
  return (
    <Step title="Look into your mail" order={way.order}>
      <Text size="sm" className="culvert-wrap">
        If <strong>{way.email}</strong> has an account here, a link is on its way. It works once, for an hour.
      </Text>
      {back}
    </Step>
  );
}

/** Address and password, and the other ways that this server has. */
import { Button, Group } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { EmailField, PasswordField } from './fields.tsx';
import { LinkButton } from './link-button.tsx';
import { Providers, useWaysIn } from './providers.tsx';
import { Step } from './step.tsx';
import { useStep } from './use-step.ts';
import type { LogIn, Way } from './way.ts';

interface SignInStepProps {
  readonly way: Way;
  readonly title: string;
  readonly problem: string | undefined;
  readonly returnTo: string;
  /** The way to a new account, where this is not the first step. */
  readonly back: ReactNode;
}

export function SignInStep({ way, title, problem: first, returnTo, back }: SignInStepProps) {
  const { client } = useApi();
  const ways = useWaysIn();
  const form = useForm({
    initialValues: { email: way.email, password: '' },
    onValuesChange: ({ email }) => way.setEmail(email),
  });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    problem: first,
    run: async (body): Promise<LogIn | 'unconfirmed'> => {
      try {
        return await answered(client.POST('/auth/login', { body }));
      } catch (error) {
        if (failureFrom(error).code === 'email_not_verified') return 'unconfirmed';
        throw error;
      }
    },
    onDone: (answer, { password }) =>
      answer === 'unconfirmed' ? way.go({ step: 'confirm', password }) : way.goOn(answer),
  });
  return (
    <Step title={title} order={way.order} problem={problem} onSubmit={onSubmit}>
      <EmailField {...form.getInputProps('email')} />
      <PasswordField name="password" autoComplete="current-password" {...form.getInputProps('password')} />
      <Button type="submit" size="md" loading={isBusy}>
        Sign in
      </Button>
      <Group justify="space-between">
        <LinkButton onClick={() => way.go({ step: 'forgot' })}>Forgot password</LinkButton>
        {back ??
          (ways.data?.signup === 'open' && (
            <LinkButton onClick={() => way.go({ step: 'sign-up' })}>Make an account</LinkButton>
          ))}
      </Group>
      {ways.isError && <FailureAlert error={ways.error} again={ways.refetch} />}
      <Providers providers={ways.data?.providers} returnTo={returnTo} />
    </Step>
  );
}

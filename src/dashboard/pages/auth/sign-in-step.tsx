/** Address and password, and the other options that this server has. */
import { Button, Group } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { EmailField, PasswordField } from './fields.tsx';
import { LinkButton } from './link-button.tsx';
import { Providers, useAuthOptions } from './providers.tsx';
import { Step } from './step.tsx';
import { useStep } from './use-step.ts';
import type { LogIn, AuthFlow } from './auth-flow.ts';

interface SignInStepProps {
  readonly flow: AuthFlow;
  readonly title: string;
  readonly problem: string | undefined;
  readonly returnTo: string;
  /** The flow to a new account, where this is not the first step. */
  readonly back: ReactNode;
}

export function SignInStep({ flow, title, problem: first, returnTo, back }: SignInStepProps) {
  const { client } = useApi();
  const options = useAuthOptions();
  const form = useForm({
    initialValues: { email: flow.email, password: '' },
    onValuesChange: ({ email }) => flow.setEmail(email),
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
      answer === 'unconfirmed' ? flow.go({ step: 'confirm', password }) : flow.goOn(answer),
  });
  return (
    <Step title={title} order={flow.order} problem={problem} onSubmit={onSubmit}>
      <EmailField {...form.getInputProps('email')} />
      <PasswordField name="password" autoComplete="current-password" {...form.getInputProps('password')} />
      <Button type="submit" size="md" loading={isBusy}>
        Sign in
      </Button>
      <Group justify="space-between">
        <LinkButton onClick={() => flow.go({ step: 'forgot' })}>Forgot password</LinkButton>
        {back ??
          (options.data?.signup === 'open' && (
            <LinkButton onClick={() => flow.go({ step: 'sign-up' })}>Create account</LinkButton>
          ))}
      </Group>
      {options.isError && <FailureAlert error={options.error} again={options.refetch} />}
      <Providers providers={options.data?.providers} returnTo={returnTo} />
    </Step>
  );
}

/** Logging in: the password, then the second factor. */
import { Button, Group } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useRef, useState } from 'react';
import { useAuthOptions } from '../../api/auth-options.ts';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { CodeField, EmailField, LinkButton, PasswordField } from './fields.tsx';
import { Providers } from './providers.tsx';
import { type AuthFlow, type LogIn, Step, useStep } from './step.tsx';

interface SignInStepProps {
  readonly flow: AuthFlow;
  readonly title: string;
  readonly problem: string | undefined;
  readonly returnTo: string;
  /** The flow to a new account, where this is not the first step. */
  readonly back: ReactNode;
}

/** Address and password, and the other options that this server has. */
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
        Log in
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

interface SecondStepProps {
  readonly flow: AuthFlow;
  readonly challenge: string;
  readonly back: ReactNode;
}

/** The second factor: a code of the authenticator app, or one of the recovery codes. */
export function SecondStep({ flow, challenge, back }: SecondStepProps) {
  const { client } = useApi();
  const [isRecovery, setRecovery] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const form = useForm({ initialValues: { code: '' } });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    run: ({ code }) => {
      const typed = code.trim();
      const proof = isRecovery ? { recovery_code: typed } : { code: typed.replaceAll(' ', '') };
      return answered(client.POST('/auth/login/mfa', { body: { challenge_token: challenge, ...proof } }));
    },
    onDone: flow.goOn,
  });
  const change = (): void => {
    setRecovery(!isRecovery);
    form.reset();
    field.current?.focus();
  };
  return (
    <Step title="Two-factor authentication" order={flow.order} problem={problem} onSubmit={onSubmit}>
      <CodeField
        ref={field}
        label={isRecovery ? 'One of your recovery codes' : 'Code from your authenticator app'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        {...form.getInputProps('code')}
      />
      <Button type="submit" size="md" loading={isBusy}>
        Continue
      </Button>
      <Group justify="space-between">
        <LinkButton onClick={change}>{isRecovery ? 'Use authenticator app' : 'Use recovery code'}</LinkButton>
        {back}
      </Group>
    </Step>
  );
}

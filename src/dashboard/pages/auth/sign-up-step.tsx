/** A new account: its address and password, then the code from the email. */
import { Alert, Button, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useRef } from 'react';
import { answered } from '../../api/client.ts';
import { useMailOff } from '../../api/auth-options.ts';
import { useApi } from '../../api/context.tsx';
import { Failure, failureFrom } from '../../api/failure.ts';
import { useAction } from '../../parts/action.ts';
import { PASSWORD_RULE, passwordFault } from './credentials.ts';
import { CodeField, EmailField, PasswordField } from './fields.tsx';
import { type AuthFlow, type LogIn, Step, useStep } from './step.tsx';

/** A new account, on a server with open sign-up. */
export function SignUpStep({ flow, back }: { readonly flow: AuthFlow; readonly back: ReactNode }) {
  const { client } = useApi();
  const form = useForm({
    initialValues: { email: flow.email, password: '' },
    validate: { password: passwordFault },
    onValuesChange: ({ email }) => flow.setEmail(email),
  });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    run: (body) => answered(client.POST('/auth/signup', { body })),
    onDone: (_, { password }) => flow.go({ step: 'confirm', password }),
  });
  return (
    <Step title="Create account" order={flow.order} problem={problem} onSubmit={onSubmit}>
      <EmailField type="email" maxLength={254} {...form.getInputProps('email')} />
      <PasswordField
        description={PASSWORD_RULE}
        name="password"
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
      <Button type="submit" size="md" loading={isBusy}>
        Continue
      </Button>
      {back}
    </Step>
  );
}

/** A code confirms an address, and no password that another person may have typed. */
const OTHER_PASSWORD =
  'Your email is confirmed, but your password was not set: another sign-up used the same address. Request a link to set one.';

interface ConfirmStepProps {
  readonly flow: AuthFlow;
  readonly password: string;
  readonly onConfirmed: (() => void) | undefined;
  readonly back: ReactNode;
}

/** The code from the mail to a new address, and the login that follows. */
export function ConfirmStep({ flow, password, onConfirmed, back }: ConfirmStepProps) {
  const { client } = useApi();
  const { email } = flow;
  const isMailOff = useMailOff();
  const field = useRef<HTMLInputElement>(null);
  const form = useForm({ initialValues: { code: '' } });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    run: async ({ code }): Promise<LogIn | Failure> => {
      await answered(client.POST('/auth/verify-email-otp', { body: { email, code: code.replaceAll(' ', '') } }));
      // The code is used up: what goes wrong from here on is not about it.
      return answered(client.POST('/auth/login', { body: { email, password } })).catch(failureFrom);
    },
    onDone: (answer) => {
      if (!(answer instanceof Failure)) {
        onConfirmed?.();
        return flow.goOn(answer);
      }
      if (answer.status === 401) return flow.go({ step: 'forgot', problem: OTHER_PASSWORD });
      return flow.go({ step: 'login', problem: answer.message });
    },
  });
  const resend = useAction({
    run: () => answered(client.POST('/auth/resend-verify-otp', { body: { email } })),
    onDone: () => {
      form.reset();
      field.current?.focus();
    },
  });
  return (
    <Step title="Confirm your email" order={flow.order} problem={problem} onSubmit={onSubmit}>
      <Text size="sm" className="culvert-wrap">
        {isMailOff ? (
          <>
            This server sends no email. Ask its operator for the six-digit code for <strong>{email}</strong>: it is in
            the log of the server. It expires in 10 minutes.
          </>
        ) : (
          <>
            Enter the six-digit code from the email to <strong>{email}</strong>. It expires in 10 minutes.
          </>
        )}
      </Text>
      {resend.isSuccess && (
        <Alert role="status" variant="light">
          If this address is not confirmed yet, a new code was sent.
        </Alert>
      )}
      <CodeField
        ref={field}
        label={isMailOff ? 'Code from the log' : 'Code from the email'}
        {...form.getInputProps('code')}
      />
      <Button type="submit" size="md" loading={isBusy}>
        Confirm
      </Button>
      <Button variant="default" size="md" loading={resend.isPending} onClick={() => resend.mutate()}>
        Send new code
      </Button>
      <Text size="xs" c="dimmed">
        If the email has no code, this address already has an account. Log in with that account.
      </Text>
      {back}
    </Step>
  );
}

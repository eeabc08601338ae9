/** A new account, on a server with open sign-up. */
import { Button } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { PASSWORD_RULE, passwordFault } from './password-rule.ts';
import { EmailField, PasswordField } from './fields.tsx';
import { Step } from './step.tsx';
import { useStep } from './use-step.ts';
import type { AuthFlow } from './auth-flow.ts';

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

/** The second factor: a code of the authenticator app, or one of the recovery codes. */
import { Button, Group } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useRef, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { CodeField } from './fields.tsx';
import { LinkButton } from './link-button.tsx';
import { Step } from './step.tsx';
import { useStep } from './use-step.ts';
import type { AuthFlow } from './auth-flow.ts';

interface SecondStepProps {
  readonly flow: AuthFlow;
  readonly challenge: string;
  readonly back: ReactNode;
}

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
    <Step title="Second factor" order={flow.order} problem={problem} onSubmit={onSubmit}>
      <CodeField
        ref={field}
        label={isRecovery ? 'One of your recovery codes' : 'Code of your authenticator app'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        {...form.getInputProps('code')}
      />
      <Button type="submit" size="md" loading={isBusy}>
        Continue
      </Button>
      <Group justify="space-between">
        <LinkButton onClick={change}>{isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}</LinkButton>
        {back}
      </Group>
    </Step>
  );
}

/** Offers a new account and signing in alike: most invited users have no account yet. */
import { Button, Stack, Text } from '@mantine/core';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Providers, useAuthOptions } from './providers.tsx';
import { Step } from './step.tsx';
import type { AuthFlow } from './auth-flow.ts';

interface ChoiceStepProps {
  readonly flow: AuthFlow;
  readonly invited: string;
  readonly returnTo: string;
}

export function ChoiceStep({ flow, invited, returnTo }: ChoiceStepProps) {
  const options = useAuthOptions();
  const isOpen = options.data?.signup === 'open';
  return (
    <Step title="Do you have an account here?" order={flow.order}>
      <Text size="sm" className="culvert-wrap">
        The invitation is for <strong>{invited}</strong> alone.
        {options.data?.signup === 'closed' &&
          ' An operator of this server makes accounts: ask for one if you have none.'}
      </Text>
      {options.isError && <FailureAlert error={options.error} again={options.refetch} />}
      <Stack gap="xs">
        {isOpen && (
          <Button size="md" onClick={() => flow.go({ step: 'sign-up' })}>
            Create account
          </Button>
        )}
        <Button size="md" onClick={() => flow.go({ step: 'sign-in' })}>
          Sign in
        </Button>
      </Stack>
      <Providers providers={options.data?.providers} returnTo={returnTo} />
    </Step>
  );
}

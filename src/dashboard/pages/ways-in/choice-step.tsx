/** Whoever was invited mostly has no account here yet: making one and signing in are offered alike. */
import { Button, Stack, Text } from '@mantine/core';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Providers, useWaysIn } from './providers.tsx';
import { Step } from './step.tsx';
import type { Way } from './way.ts';

interface ChoiceStepProps {
  readonly way: Way;
  readonly invited: string;
  readonly returnTo: string;
}

export function ChoiceStep({ way, invited, returnTo }: ChoiceStepProps) {
  const ways = useWaysIn();
  const isOpen = ways.data?.signup === 'open';
  return (
    <Step title="Do you have an account here?" order={way.order}>
      <Text size="sm" className="culvert-wrap">
        The invitation is for <strong>{invited}</strong> alone.
        {ways.data?.signup === 'closed' && ' An operator of this server makes accounts: ask for one if you have none.'}
      </Text>
      {ways.isError && <FailureAlert error={ways.error} again={ways.refetch} />}
      <Stack gap="xs">
        {isOpen && (
          <Button size="md" onClick={() => way.go({ step: 'sign-up' })}>
            Make an account
          </Button>
        )}
        <Button size="md" onClick={() => way.go({ step: 'sign-in' })}>
          Sign in
        </Button>
      </Stack>
      <Providers providers={ways.data?.providers} returnTo={returnTo} />
    </Step>
  );
}

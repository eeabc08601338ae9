/** For pages opened by a link: the authentication steps first, then the account in use and the page itself. */
import { Button, Center, Group, Loader, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAccountQuery, useApi, useSessionState } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import type { Account } from '../../api/types.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { useLeaving } from '../../api/leaving.ts';
import type { Arrival } from '../../place.ts';
import { LinkButton } from './fields.tsx';
import { isSameAddress } from './credentials.ts';
import { Problem, Step } from './step.tsx';
import { AuthSteps } from './auth-steps.tsx';

interface OnceSignedInProps {
  readonly arrival: Arrival;
  readonly returnTo: string;
  readonly title: string;
  readonly problem: string | undefined;
  /** The address whose account alone has a use for the page. */
  readonly invited?: string;
  readonly children: (account: Account) => ReactNode;
}

export function SignedInOnly({ arrival, returnTo, ...rest }: OnceSignedInProps) {
  const { state, epoch } = useSessionState();
  const { invited } = rest;
  if (state === 'starting') return <Waiting />;
  if (state === 'away') return <Away />;
  if (state !== 'in')
    return (
      <AuthSteps
        arrival={arrival}
        title={invited === undefined ? 'Log in first' : 'Log in'}
        order={2}
        returnTo={returnTo}
        {...(invited === undefined ? {} : { invited })}
      />
    );
  return <SignedIn key={epoch} {...rest} />;
}

function SignedIn({ title, problem, invited, children }: Omit<OnceSignedInProps, 'arrival' | 'returnTo'>) {
  const account = useAccountQuery();
  const leave = useLeaving();
  const [isLeaving, setLeaving] = useState(false);
  const [stayed, setStayed] = useState<string>();
  const another = (): void => {
    setLeaving(true);
    leave().catch((error: unknown) => {
      setLeaving(false);
      setStayed(failureFrom(error).message);
    });
  };
  if (account.data === undefined)
    return account.isError ? <FailureAlert error={account.error} again={account.refetch} /> : <Waiting />;
  const { email } = account.data.user;
  const who = (
    <Text size="sm" className="culvert-wrap">
      Logged in as <strong>{email}</strong>
    </Text>
  );
  const failure = stayed !== undefined && <Problem>{stayed}</Problem>;
  if (invited !== undefined && !isSameAddress(invited, email))
    return (
      <Step title="Wrong account" order={2}>
        {failure}
        {who}
        <Text size="sm" className="culvert-wrap">
          The invitation is for <strong>{invited}</strong>. Only the account with that address can accept it.
        </Text>
        <Button size="md" loading={isLeaving} onClick={another}>
          Use another account
        </Button>
      </Step>
    );
  return (
    <Step title={title} order={2} problem={problem}>
      {failure}
      <Group justify="space-between" gap="0 md">
        {who}
        <LinkButton disabled={isLeaving} onClick={another}>
          Use another account
        </LinkButton>
      </Group>
      <Stack gap="md">{children(account.data)}</Stack>
    </Step>
  );
}

/** The browser has a session, and the server does not say whose. */
function Away() {
  const { session } = useApi();
  return (
    <Step title="Server not responding" order={2}>
      <Text size="sm">You are probably still logged in.</Text>
      <Button size="md" onClick={() => void session.begin()}>
        Try again
      </Button>
    </Step>
  );
}

export function Waiting() {
  return (
    <Center mih={120}>
      <Loader aria-label="Loading" />
    </Center>
  );
}

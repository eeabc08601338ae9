/** For pages that somebody comes to by a link: the ways in until they are signed in, then who they are, and what the page is for. */
import { Center, Group, Loader, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAccountQuery, useSessionState } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import type { Account } from '../../api/types.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { useLeaving } from '../../parts/leaving.ts';
import type { Arrival } from '../../place.ts';
import { LinkButton } from './link-button.tsx';
import { Problem, Step } from './step.tsx';
import { Ways } from './ways.tsx';

interface OnceSignedInProps {
  readonly arrival: Arrival;
  readonly returnTo: string;
  readonly title: string;
  readonly problem: string | undefined;
  readonly children: (account: Account) => ReactNode;
}

export function OnceSignedIn({ arrival, returnTo, ...rest }: OnceSignedInProps) {
  const { state, epoch } = useSessionState();
  if (state === 'starting') return <Waiting />;
  if (state !== 'in') return <Ways arrival={arrival} title="Sign in first" order={2} returnTo={returnTo} />;
  return <SignedIn key={epoch} {...rest} />;
}

function SignedIn({ title, problem, children }: Pick<OnceSignedInProps, 'title' | 'problem' | 'children'>) {
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
  return (
    <Step title={title} order={2} problem={problem}>
      {stayed !== undefined && <Problem>{stayed}</Problem>}
      <Group justify="space-between" gap="0 md">
        <Text size="sm" className="culvert-wrap">
          Signed in as <strong>{account.data.user.email}</strong>
        </Text>
        <LinkButton disabled={isLeaving} onClick={another}>
          Use another account
        </LinkButton>
      </Group>
      <Stack gap="md">{children(account.data)}</Stack>
    </Step>
  );
}

function Waiting() {
  return (
    <Center mih={120}>
      <Loader aria-label="Loading" />
    </Center>
  );
}

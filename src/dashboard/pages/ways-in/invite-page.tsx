/** `/invite?token=`, to which the mail of an invitation leads: whoever it was sent to signs in, or signs up, and accepts. */
import { Alert, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom, isSaidAlready } from '../../api/failure.ts';
import type { Schemas } from '../../api/types.ts';
import { useDeed } from '../../parts/deed.ts';
import type { Arrival } from '../../place.ts';
import { Frame } from './frame.tsx';
import { OnceSignedIn } from './once-signed-in.tsx';
import { Problem, Step } from './step.tsx';

export function InvitePage({ arrival }: { readonly arrival: Arrival }) {
  if (arrival.token === undefined)
    return (
      <Frame title="Invitation" heading="This address is not complete">
        <Text size="sm">Open the whole link of the mail that invites you.</Text>
      </Frame>
    );
  return <Invitation arrival={arrival} token={arrival.token} />;
}

type End =
  | { readonly how: 'joined'; readonly organization: Schemas['Organization'] }
  | { readonly how: 'over' | 'unused'; readonly problem: string };

function Invitation({ arrival, token }: { readonly arrival: Arrival; readonly token: string }) {
  const { client } = useApi();
  const [problem, setProblem] = useState<string>();
  const [end, setEnd] = useState<End>();
  const accept = useDeed({
    run: (_email: string) => answered(client.POST('/orgs/invitations/accept', { body: { token } })),
    onDone: (organization) => setEnd({ how: 'joined', organization }),
    tellsFailure: true,
  });
  const refused = (error: unknown, email: string): void => {
    const { status, code, message } = failureFrom(error);
    if (status === 404) return setEnd({ how: 'over', problem: message });
    if (code === 'conflict') return setEnd({ how: 'unused', problem: message });
    if (status === 403) return setProblem(`You are signed in as ${email}. ${message}`);
    if (status !== 401 && !isSaidAlready(error)) setProblem(message);
  };
  if (end !== undefined) return <Ended end={end} />;
  return (
    <Frame title="Invitation" heading="You are invited">
      <Text size="sm">
        The mail says to which organization. Accept with the account of the address that it was sent to.
      </Text>
      <OnceSignedIn
        arrival={arrival}
        returnTo={`/app/invite?token=${encodeURIComponent(token)}`}
        title="Accept the invitation?"
        problem={problem}
      >
        {({ user: { email } }) => (
          <Button
            size="md"
            loading={accept.isPending}
            onClick={() => {
              setProblem(undefined);
              accept.mutate(email, { onError: (error) => refused(error, email) });
            }}
          >
            Accept the invitation
          </Button>
        )}
      </OnceSignedIn>
    </Frame>
  );
}

const TITLES = {
  joined: 'You are in',
  over: 'This invitation is over',
  unused: 'The invitation was not used',
} as const;

function Ended({ end }: { readonly end: End }) {
  const [, navigate] = useLocation();
  const { client, session } = useApi();
  // Whoever was invited wants to see the organization that they are in now.
  const enter = useDeed({
    run: (id: string) => answered(client.POST('/auth/switch-org', { body: { org_id: id } })),
    onDone: ({ access_token: token }) => {
      navigate('/');
      session.enter(token);
    },
  });
  return (
    <Frame title="Invitation">
      <Step title={TITLES[end.how]} order={1}>
        {end.how === 'joined' ? (
          <Alert role="status" variant="light" className="culvert-wrap">
            You are in the organization <strong>{end.organization.name}</strong> with the role{' '}
            <strong>{end.organization.role}</strong>.
          </Alert>
        ) : (
          <Problem>{end.problem}</Problem>
        )}
        <Button
          size="md"
          loading={enter.isPending}
          onClick={() => (end.how === 'joined' ? enter.mutate(end.organization.id) : navigate('/'))}
        >
          To the dashboard
        </Button>
      </Step>
    </Frame>
  );
}

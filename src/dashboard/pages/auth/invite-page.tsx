/**
 * `/invite?token=`, the page of an invitation's email: it shows the invitation first; then the invited user makes an
 * account, or logs in, and accepts.
 */
import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useSessionState } from '../../api/context.tsx';
import { failureFrom, isOtherByNow } from '../../api/failure.ts';
import { useAction } from '../../parts/action.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import type { Arrival } from '../../place.ts';
import { Frame } from './frame.tsx';
import { type End, InvitationEnded, InvitationFacts, type ShownInvitation, useInvitation } from './invitation.tsx';
import { SignedInOnly, Waiting } from './signed-in-only.tsx';

export function InvitePage({ arrival }: { readonly arrival: Arrival }) {
  const [tries, setTries] = useState(1);
  if (arrival.token === undefined)
    return (
      <Frame title="Invitation" heading="This link is incomplete">
        <Text size="sm">Open the full link from the invitation email.</Text>
      </Frame>
    );
  return <Invitation key={tries} arrival={arrival} token={arrival.token} again={() => setTries(tries + 1)} />;
}

interface InvitationProps {
  readonly arrival: Arrival;
  readonly token: string;
}

function Invitation({ arrival, token, again }: InvitationProps & { readonly again: () => void }) {
  const lookup = useInvitation(token);
  if (lookup.state === 'found') return <Offer arrival={arrival} token={token} invitation={lookup.invitation} />;
  if (lookup.state === 'looking')
    return (
      <Frame title="Invitation">
        <Waiting />
      </Frame>
    );
  const { status, message } = failureFrom(lookup.error);
  if (status === 404) return <InvitationEnded end={{ how: 'over', problem: message }} />;
  return (
    <Frame title="Invitation" heading="You are invited">
      <FailureAlert error={lookup.error} again={again} />
    </Frame>
  );
}

interface OfferProps extends InvitationProps {
  readonly invitation: ShownInvitation;
}

function Offer({ arrival, token, invitation }: OfferProps) {
  const { client } = useApi();
  const { epoch } = useSessionState();
  // Of the account that got it: after a switch to another account it does not apply.
  const [problem, setProblem] = useState<{ readonly text: string; readonly epoch: number }>();
  const [end, setEnd] = useState<End>();
  const accept = useAction({
    run: () => answered(client.POST('/orgs/invitations/accept', { body: { token } })),
    onDone: (organization) => setEnd({ how: 'joined', organization }),
    tellsFailure: true,
  });
  const refused = (error: unknown): void => {
    const { status, code, message } = failureFrom(error);
    if (status === 404) return setEnd({ how: 'over', problem: message });
    if (code === 'conflict') return setEnd({ how: 'unused', problem: message });
    if (status !== 401 && !isOtherByNow(error)) setProblem({ text: message, epoch });
  };
  if (end !== undefined) return <InvitationEnded end={end} />;
  return (
    <Frame title="Invitation" heading="You are invited">
      <InvitationFacts invitation={invitation} />
      <SignedInOnly
        arrival={arrival}
        returnTo={`/app/invite?token=${encodeURIComponent(token)}`}
        title="Accept invitation?"
        problem={problem?.epoch === epoch ? problem.text : undefined}
        invited={invitation.email}
      >
        {() => (
          <Button
            size="md"
            loading={accept.isPending}
            onClick={() => {
              setProblem(undefined);
              accept.mutate(undefined, { onError: refused });
            }}
          >
            Accept invitation
          </Button>
        )}
      </SignedInOnly>
    </Frame>
  );
}

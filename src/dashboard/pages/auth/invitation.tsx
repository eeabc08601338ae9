/** An invitation: fetched, shown, and what became of it. */
import { Alert, Button, SimpleGrid, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Fact } from '../../parts/fact.tsx';
import { ROLE_NAMES, roleOf } from '../members/roles.ts';
import { Frame } from './frame.tsx';
import { Problem, Step } from './step.tsx';

/** Fetches an invitation. In no cache of queries: logging in, the next step, clears those. */
export type ShownInvitation = Schemas['ShownInvitation'];

type Lookup =
  | { readonly state: 'looking' }
  | { readonly state: 'found'; readonly invitation: ShownInvitation }
  | { readonly state: 'failed'; readonly error: unknown };

/** Asks once, where it is drawn first. */
export function useInvitation(token: string): Lookup {
  const { client } = useApi();
  const [lookup, setLookup] = useState<Lookup>({ state: 'looking' });
  useEffect(() => {
    const gone = new AbortController();
    const look = async (): Promise<void> => {
      const call = client.POST('/orgs/invitations/lookup', { body: { token }, signal: gone.signal });
      const next: Lookup = await answered(call).then(
        (invitation) => ({ state: 'found', invitation }),
        (error: unknown) => ({ state: 'failed', error }),
      );
      if (!gone.signal.aborted) setLookup(next);
    };
    void look();
    return () => gone.abort();
  }, [client, token]);
  return lookup;
}

/** What an invitation says, each part under its name: what people call themselves and their organizations makes no sentence of ours. */
export function InvitationFacts({ invitation }: { readonly invitation: ShownInvitation }) {
  const { organization, role, invited_by: by, invited_by_name: name, expires_at: until } = invitation;
  return (
    <>
      <SimpleGrid cols={2} spacing="md" verticalSpacing="sm">
        <Fact title="Organization">
          <strong>{organization}</strong>
        </Fact>
        <Fact title="Your role">{ROLE_NAMES[roleOf(role)]}</Fact>
        <Fact title="Invited by">
          {name !== '' && <div>{name}</div>}
          {by}
        </Fact>
        <Fact title="Expires">
          <Ago at={until} />
        </Fact>
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        If you don&apos;t know the sender, close this page. Nothing changes.
      </Text>
    </>
  );
}

/** What has become of an invitation, and the way on. */
export type End =
  | { readonly how: 'joined'; readonly organization: Schemas['Organization'] }
  | { readonly how: 'over' | 'unused'; readonly problem: string };

const TITLES = {
  joined: 'Invitation accepted',
  over: 'Invitation not valid',
  unused: 'Invitation not accepted',
} as const;

export function InvitationEnded({ end }: { readonly end: End }) {
  const [, navigate] = useLocation();
  const { client, session } = useApi();
  // The new member wants to see the organization that they joined.
  const enter = useAction({
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
            You joined the organization <strong>{end.organization.name}</strong> with the role{' '}
            <strong>{end.organization.role}</strong>.
          </Alert>
        ) : (
          <Problem>{end.problem}</Problem>
        )}
        {end.how === 'over' && (
          <Text size="sm">If you accepted it before, switch to the organization at the top of the dashboard.</Text>
        )}
        <Button
          size="md"
          loading={enter.isPending}
          onClick={() => (end.how === 'joined' ? enter.mutate(end.organization.id) : navigate('/'))}
        >
          Open dashboard
        </Button>
      </Step>
    </Frame>
  );
}

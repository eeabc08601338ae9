/** What has become of an invitation, and the way on. */
import { Alert, Button, Text } from '@mantine/core';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Frame } from './frame.tsx';
import { Problem, Step } from './step.tsx';

export type End =
  | { readonly how: 'joined'; readonly organization: Schemas['Organization'] }
  | { readonly how: 'over' | 'unused'; readonly problem: string };

const TITLES = {
  joined: 'You are in',
  over: 'This invitation is over',
  unused: 'The invitation was not used',
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
            You are in the organization <strong>{end.organization.name}</strong> with the role{' '}
            <strong>{end.organization.role}</strong>.
          </Alert>
        ) : (
          <Problem>{end.problem}</Problem>
        )}
        {end.how === 'over' && (
          <Text size="sm">If it was you who accepted it, the organization is in the dashboard, at the top.</Text>
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

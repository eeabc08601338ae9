/** What an invitation says, each part under its name: what people call themselves and their organizations makes no sentence of ours. */
import { SimpleGrid, Text } from '@mantine/core';
import { Ago } from '../../parts/ago.tsx';
import { Fact } from '../../parts/fact.tsx';
import { ROLE_NAMES, roleOf } from '../members/roles.ts';
import type { ShownInvitation } from './use-invitation.ts';

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
        <Fact title="Runs out">
          <Ago at={until} />
        </Fact>
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        If you do not know who invites you, close this page: nothing happens then.
      </Text>
    </>
  );
}

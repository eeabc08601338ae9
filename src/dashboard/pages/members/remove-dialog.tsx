/** Removes a member from the organization, or lets the user leave it. */
import { Text } from '@mantine/core';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import type { Asked } from '../../parts/asked.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { endedKeys } from './role-dialog.tsx';
import { isLastOwner, LAST_OWNER } from './roles.ts';

interface RemoveDialogProps {
  readonly asked: Asked<Schemas['Member']>;
  /** Of the organization. */
  readonly all: ReadonlyArray<Schemas['Member']>;
}

export function RemoveDialog({ asked: { row: member, opened, close }, all }: RemoveDialogProps) {
  const { user, active_org: org } = useAccount();
  const { client, session } = useApi();
  const isMe = member?.user_id === user.id;
  const remove = useAction({
    run: ({ user_id: userId }: Schemas['Member']) =>
      answered(client.DELETE('/orgs/{id}/members/{user_id}', { params: { path: { id: org.id, user_id: userId } } })),
    done: ({ revoked_tokens: ended }, { email }) =>
      isMe ? `You have left ${org.name}.` : `${email} is out of ${org.name}.${endedKeys(ended)}`,
    touches: isMe ? [] : [['orgs', org.id]],
    onDone: async () => {
      close();
      // The session goes on in another organization of theirs, or is over where there is none.
      if (isMe) await session.begin();
    },
    tellsFailure: true,
  });
  return (
    <Confirm
      title={isMe ? `Leave ${org.name}?` : `Remove ${member?.email ?? ''} from ${org.name}?`}
      action={isMe ? 'Leave' : 'Remove'}
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => member !== undefined && remove.mutate(member)}
      onClose={() => {
        remove.reset();
        close();
      }}
    >
      {member !== undefined && isLastOwner(all, member.user_id) ? (
        <Text size="sm">{LAST_OWNER}</Text>
      ) : (
        <Text size="sm">
          The keys that {isMe ? 'you' : 'they'} made here are revoked, with what those minted, and agents with them are
          cut off. Invitations that {isMe ? 'you' : 'they'} sent end. Tunnels stay with the organization.
          {isMe && ' To come back you need a new invitation.'}
        </Text>
      )}
    </Confirm>
  );
}

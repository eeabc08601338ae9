/** The dialog for another role of a member, and the choice of a role. */
import { Alert, Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Role, Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import type { Asked } from '../../parts/dialogs/asked.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { isLastOwner, isUndoable, LAST_OWNER, ROLE_NAMES, ROLE_WORDS, roleOf, rolesUpTo } from './roles.ts';

interface RoleDialogProps {
  readonly asked: Asked<Schemas['Member']>;
  /** Of the organization. */
  readonly all: ReadonlyArray<Schemas['Member']>;
}

export function RoleDialog({ asked: { row: member, opened, close }, all }: RoleDialogProps) {
  return (
    <Modal opened={opened} onClose={close} title={`Change the role of ${member?.email ?? ''}?`}>
      {member !== undefined && (
        <RoleForm key={member.user_id} member={member} isLast={isLastOwner(all, member.user_id)} onClose={close} />
      )}
    </Modal>
  );
}

interface RoleFormProps {
  readonly member: Schemas['Member'];
  readonly isLast: boolean;
  readonly onClose: () => void;
}

function RoleForm({ member, isLast, onClose }: RoleFormProps) {
  const { active_org: org, user } = useAccount();
  const [role, setRole] = useState<Role>(roleOf(member.role));
  const change = useRoleChange(member, onClose);
  const isMe = member.user_id === user.id;
  return (
    <Stack>
      {isLast ? (
        <Alert color="yellow" variant="light">
          {LAST_OWNER}
        </Alert>
      ) : (
        <>
          <RoleChoice roles={rolesUpTo(roleOf(org.role))} value={role} onChange={setRole} />
          <Text size="sm" c="dimmed">
            {isMe ? "You can't give yourself a higher role again. " : ''}Applies immediately. Keys and invitations that
            the new role can&apos;t create are revoked, and agents with these keys are disconnected.
          </Text>
        </>
      )}
      {change.error !== null && <FailureAlert error={change.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={change.isPending}
          disabled={isLast || role === roleOf(member.role)}
          onClick={() => change.mutate(role)}
        >
          Make {ROLE_NAMES[role].toLowerCase()}
        </Button>
      </Group>
    </Stack>
  );
}

function useRoleChange(member: Schemas['Member'], onClose: () => void) {
  const { client } = useApi();
  const { user, active_org: org } = useAccount();
  const { user_id: userId, email } = member;
  const path = { id: org.id, user_id: userId };
  const put = (role: Role) =>
    answered(client.PATCH('/orgs/{id}/members/{user_id}', { params: { path }, body: { role } }));
  const members = () => answered(client.GET('/orgs/{id}/members', { params: { path: { id: org.id } } }));
  return useAction({
    run: put,
    undo: (after) => {
      const change = { from: roleOf(member.role), to: roleOf(after.role), revokedKeys: after.revoked_tokens };
      if (userId === user.id || !isUndoable(change)) return undefined;
      return undoOf({
        before: member,
        after,
        fields: ['role'],
        read: async () => (await members()).find((one) => one.user_id === userId),
        write: () => put(change.from),
      });
    },
    done: ({ role, revoked_tokens: ended }) => `${email} is now ${ROLE_NAMES[role].toLowerCase()}.${endedKeys(ended)}`,
    touches: [['orgs', org.id], ...(userId === user.id ? [['me'], ['orgs']] : [])],
    onDone: onClose,
    tellsFailure: true,
  });
}

/** " 2 keys of theirs were revoked." */
export function endedKeys(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ' One of their keys was revoked.' : ` ${count} of their keys were revoked.`;
}

interface RoleChoiceProps {
  readonly roles: readonly Role[];
  readonly value: Role;
  readonly onChange: (role: Role) => void;
  readonly error?: string | undefined;
}

/** One of the roles, each with what it may. For invitations and for members. */
export function RoleChoice({ roles, value, onChange, error }: RoleChoiceProps) {
  return (
    <Radio.Group label="Role" value={value} onChange={(role) => onChange(roleOf(role))} error={error}>
      <Stack gap="xs" mt={6}>
        {roles.map((role) => (
          <Radio key={role} value={role} label={ROLE_NAMES[role]} description={ROLE_WORDS[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

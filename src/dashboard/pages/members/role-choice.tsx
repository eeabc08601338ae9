/** One of the roles, each with what it may. For invitations and for members. */
import { Radio, Stack } from '@mantine/core';
import type { Role } from '../../api/types.ts';
import { ROLE_NAMES, ROLE_WORDS, roleOf } from './roles.ts';

interface RoleChoiceProps {
  readonly roles: readonly Role[];
  readonly value: Role;
  readonly onChange: (role: Role) => void;
  readonly error?: string | undefined;
}

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

/** `culvert members`: the users of the organization and their roles. Invitations are in invitations.ts. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone, printRows } from '../client/api-command.ts';
import { confirm } from '../terminal/confirm.ts';
import { day, findRow, organizationPath } from './find.ts';

const member = z.looseObject({
  user_id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
  joined_at: z.string(),
  mfa_enabled: z.boolean().nullable(),
});
type Member = z.output<typeof member>;
const changed = z.looseObject({ revoked_tokens: z.int() });

export const membersList = apiCommand(async (asked) => {
  await printRows(asked, await listMembers(asked, await organizationPath(asked)), {
    email: (row) => row.email,
    name: (row) => row.name,
    role: (row) => row.role,
    'two-factor': ({ mfa_enabled: isOn }) => (isOn === null ? '-' : isOn ? 'on' : 'off'),
    since: (row) => day(row.joined_at),
    id: (row) => row.user_id,
  });
});

export const membersRole = apiCommand(async (asked) => {
  const { path, found } = await findMember(asked);
  const role = asked.args[1] ?? '';
  const answer = await asked.call('PATCH', path, { role });
  await printDone(asked, answer, `${found.email}: ${role}${revokedOf(answer)}`);
});

export const membersRemove = apiCommand(async (asked) => {
  const { path, found } = await findMember(asked);
  await confirm(asked.io, asked.flags, `Remove ${found.email}, and revoke the keys that they created?`);
  const answer = await asked.call('DELETE', path);
  await printDone(asked, answer, `${found.email}: removed${revokedOf(answer)}`);
});

async function listMembers(asked: Asked, organization: string): Promise<Member[]> {
  return member.array().parse(await asked.call('GET', `${organization}/members`));
}

async function findMember(asked: Asked): Promise<{ path: string; found: Member }> {
  const organization = await organizationPath(asked);
  const of = (row: Member): string[] => [row.user_id, row.email.toLowerCase()];
  const handle = (asked.args[0] ?? '').toLowerCase();
  const found = findRow(await listMembers(asked, organization), handle, { of, what: 'member', list: 'members list' });
  return { path: `${organization}/members/${encodeURIComponent(found.user_id)}`, found };
}

function revokedOf(answer: unknown): string {
  const { revoked_tokens: count } = changed.parse(answer);
  return count === 0 ? '' : `; keys revoked: ${count}`;
}
